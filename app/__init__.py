"""Window, command line and network services of Mirrordrill, built on the engine."""
