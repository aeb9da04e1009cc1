"""The versioned JSON formats: their types, and how documents are read and written."""
