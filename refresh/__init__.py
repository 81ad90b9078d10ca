"""Brings today's prices from AWS into the catalogs: `make prices`, or `python -m refresh`. The app never imports it."""
