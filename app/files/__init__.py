"""Files of the user: scenarios, runs, bundles and scripts. Each file is written atomically. Without Qt."""
