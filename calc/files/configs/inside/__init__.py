"""Contents of a file of any form: its programs, their machines, models and variables."""
