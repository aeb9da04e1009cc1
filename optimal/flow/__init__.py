"""The exact network method: levels, cheapest flows and the hand-out."""
