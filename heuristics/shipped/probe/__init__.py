"""The probe: a stub coordinator that makes any real client the leader of a group."""

from heuristics.shipped.probe.guest import Guest, probed
from heuristics.shipped.probe.probe import Absent, Late, Probe

__all__ = ["Absent", "Guest", "Late", "Probe", "probed"]
