"""What a run was worth: score, report, mistakes, review, skills, and players that test the score."""
