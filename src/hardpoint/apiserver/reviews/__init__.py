"""Questions that are answered and not stored, a file for each concern: who am I, whose token is this, may I."""
