"""Tables for people, on standard output, a file a family of commands."""
