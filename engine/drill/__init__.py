"""Drills: one file each, played on a world, reviewed, retried and judged."""
