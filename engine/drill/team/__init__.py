"""Teams: several people in one world. Each has a role with its own view, actions and messages."""
