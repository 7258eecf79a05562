"""Files of the user: scenarios, runs, bundles, scripts, and writing them whole or not at all. No Qt."""
