"""Tokens that others issue: JWTs of OpenID Connect providers, verified with their keys and turned into users.

issuers.py       finding an issuer's keys, keeping them, and asking again when one is missing
authenticator.py one issuer's tokens: signature, time, audience
mappings.py      claims to a user, by name or by CEL expression
expressions.py   the CEL expressions: what they may look at and what they must give
"""
