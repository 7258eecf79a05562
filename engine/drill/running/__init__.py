"""Running drill: its world, the trainee's permissions and information, questions, goals, and its end."""
