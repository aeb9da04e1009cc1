"""Written: assignors implemented from their KIPs and documentation, quirks included."""
