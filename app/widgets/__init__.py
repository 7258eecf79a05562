"""Qt widgets that several views share; their contents are passed in."""
