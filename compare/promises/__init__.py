"""Promises: what the KIPs promise of their assignors, and the groups on which they break it."""
