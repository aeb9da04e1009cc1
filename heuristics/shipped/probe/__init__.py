"""The probe: a stub coordinator that makes any real client the leader of a group."""
