"""The commands, a file a family; ``assay.cli`` lists them."""
