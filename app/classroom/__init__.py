"""A class: a host that keeps every seat's log and plays it again, seats that dial in, and what is proved afterwards.

A seat is a scenario, a seed and its log of acts; whatever stands on the board the host has computed from these. No Qt.
"""
