"""Team of a class: one computer runs a shared simulation and a server, to which the members connect."""
