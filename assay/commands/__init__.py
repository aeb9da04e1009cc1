"""The commands, a file a family; ``assay.menu`` lists them."""
