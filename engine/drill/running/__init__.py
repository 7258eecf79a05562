"""A drill under way: its world, what the trainee may do and be told, questions, goals, and its end."""
