"""What a group is made of: a column or a few each, and the rules that hold between them."""
