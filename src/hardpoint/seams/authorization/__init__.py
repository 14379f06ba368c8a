"""Whether somebody may do something, asked of somebody else: the SubjectAccessReview webhook."""
