"""Drivers of languages other than Python, each with a small test program."""
