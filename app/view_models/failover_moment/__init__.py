"""Failover stage: the phases of one failover, their times, the drawn facts, and the published durations.

No Qt.
"""
