"""The versioned JSON formats: what a document must hold, read and written."""
