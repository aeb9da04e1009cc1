"""The columns of a group, one or a few per module, and the rules between them."""
