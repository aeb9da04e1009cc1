"""The exact network method: levels, then one flow per tier, the hand-out, and the proof."""
