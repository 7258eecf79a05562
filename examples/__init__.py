"""Programs to play against `mirrordrill serve`."""
