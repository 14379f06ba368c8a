"""What runs an author's file: the `App` it registers with, finding it, and serving the webhooks it holds.

Each seam's own words are in the module named after it: `hardpoint.authentication`, `hardpoint.authorization`,
`hardpoint.audit`, `hardpoint.credential`.
"""
