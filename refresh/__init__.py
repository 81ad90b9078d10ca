"""Brings today's prices from AWS into the catalogs: `make prices`, or `python -m refresh`. Never imported by the app."""
