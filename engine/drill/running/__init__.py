"""Running drill: its world, the permissions and knowledge of the trainee, questions, goals, and its end."""
