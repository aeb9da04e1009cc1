"""Table: one layout of rows of Arrow for many groups, their keys, and the way there and back."""
