"""Drivers for other languages than Python, each with a small test program."""
