"""When to stop, and what may be claimed: one rule or claim a file."""
