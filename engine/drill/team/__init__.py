"""A team: several people in one world, each with a role that says what it may see and do, and what they say."""
