"""Teams: several people play one drill. Each has a role with its own view, actions and messages."""
