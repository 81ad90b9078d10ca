"""A scenario as the files that start it: for the tool that trains or serves, for SkyPilot, for AWS's own command line."""
