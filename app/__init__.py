"""Desktop, command line and network services of Mirrordrill, on top of the engine."""
