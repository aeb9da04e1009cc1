"""Table: groups as rows of one Arrow layout, with their keys, and back."""
