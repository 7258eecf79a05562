"""Team of a class: a shared world that one computer runs, the server to which members connect, and the members."""
