"""Files of bills: what AWS says was really paid, read as lines by day, machine and tag."""
