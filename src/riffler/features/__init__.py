"""Items to matrix: what turns rows into features, a block at a time."""
