"""VERDICT: practice against proof."""
