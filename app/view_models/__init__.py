"""What views show, as plain data made of a world or a report. No Qt."""
