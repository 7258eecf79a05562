"""Qt widgets that several views share. They receive their contents as arguments."""
