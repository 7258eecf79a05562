"""Debrief as a file: HTML page, PDF, CSV tables, JSON data, runbook.

Only `pdf` needs Qt, so import it only where needed.
"""
