"""What finished runs tell of skills, how that fades, and what is due again. Pure functions, time is given; no Qt."""
