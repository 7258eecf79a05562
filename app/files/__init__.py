"""Files of the user: scenarios, runs, bundles, scripts; each write is atomic. Without Qt."""
