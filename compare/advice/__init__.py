"""Advice: what to change about a group in order of effect, each with its proved gain."""
