"""Programs that connect to `mirrordrill serve`."""
