"""Plans kept for the team: what stands on the shelf, and where it is stored."""
