"""What the window shows: a view is given what it shows, sends wishes out, and knows no other view."""
