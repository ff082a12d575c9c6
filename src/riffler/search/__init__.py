"""Find them all: propose what to review next, and learn from each answer."""
