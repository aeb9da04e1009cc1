"""The probe: a stub coordinator that makes any real client the leader of a group."""

from heuristics.shipped.probe.probe import Late, Probe

__all__ = ["Late", "Probe"]
