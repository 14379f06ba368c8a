"""What was asked of the server, and what came of it: the policy, the events, and where they are written."""
