"""Contents of the debrief as plain data, without Qt.

The page and the exports show the same figures and sentences.
"""
