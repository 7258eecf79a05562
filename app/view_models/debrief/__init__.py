"""The debrief as plain data, without Qt. Page and exports show the same figures and sentences."""
