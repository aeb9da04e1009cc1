"""Source: whatever holds groups, cut into splits that tasks read by themselves."""
