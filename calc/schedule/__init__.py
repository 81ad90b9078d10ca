"""The team's plan: which job runs on which machines, and when."""
