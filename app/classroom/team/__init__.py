"""A team of a class: the shared world that one computer runs, the server that members connect to, and the members."""
