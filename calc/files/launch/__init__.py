"""A scenario as files that start it: for its tool, for SkyPilot, for the AWS CLI."""
