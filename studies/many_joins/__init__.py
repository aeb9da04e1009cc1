"""ManyJoins: the clients' own assignors on very many small groups, to see which hang."""
