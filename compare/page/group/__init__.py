"""One group on a page: its line in the table, and the group in full."""
