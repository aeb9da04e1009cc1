"""Consumers: clients in Go, JavaScript and C, each in a process of its own."""
