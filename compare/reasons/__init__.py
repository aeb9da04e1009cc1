"""Reasons: why an optimum cannot be better, counted from its certificate and put in words."""
