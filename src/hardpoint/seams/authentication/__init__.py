"""Bearer tokens that somebody else knows: the TokenReview webhook."""
