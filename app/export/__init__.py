"""Debrief as a file: page, print, tables, data, runbook. Only `pdf` uses Qt; import it where it is used."""
