"""Team: several people in one world, each with a role that defines view, actions and communication."""
