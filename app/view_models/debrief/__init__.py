"""The debrief as plain data: page and exports read the same figures and sentences. No Qt."""
