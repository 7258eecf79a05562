"""Drivers that are not for Python, each with a small program in its own language."""
