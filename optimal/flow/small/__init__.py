"""Small groups in plain Python, where calls to a solver would take longer than the search."""
