"""A debrief as a file: a page, a print, tables, data, a runbook. Qt is in `pdf` alone; import it where it is used."""
