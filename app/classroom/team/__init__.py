"""A team of a class: the one world that a computer holds, its door, and its members."""
