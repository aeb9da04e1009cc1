"""Written: the assignors as their KIPs and documentation have them, quirks included."""
