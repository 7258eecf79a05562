"""Published figures as data, and the runs of the engine that reproduce them (`mirrordrill fidelity`)."""
