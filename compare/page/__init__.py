"""Page: one offline page about groups, made of snapshots directly or of a run's tables."""
