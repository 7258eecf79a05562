"""Drills: one file each, played on a world, looked back at, tried again, and judged."""
