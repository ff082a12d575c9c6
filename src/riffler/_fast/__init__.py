"""The only compiled loops (numba): arrays in, arrays out, no checks. The callers check and convert once."""
