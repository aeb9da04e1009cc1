"""The probe: a stub group coordinator that makes any real client the leader of a group."""

from heuristics.shipped.probe.guest import Guest, open_probe, probed
from heuristics.shipped.probe.probe import Probe
from heuristics.shipped.probe.round import Absent, Late

__all__ = ["Absent", "Guest", "Late", "Probe", "open_probe", "probed"]
