"""Columnar: many groups as rows of Arrow, their keys, and the way there and back."""
