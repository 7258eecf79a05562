"""Running drill: world, permissions and knowledge of the trainee, questions, goals, and the end."""
