"""The exact method for tiers that are flows: levels, a flow a tier, the hand-out, the proof."""
