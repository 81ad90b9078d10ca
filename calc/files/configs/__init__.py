"""Configs of training and serving tools, read as scenario rows.

Meanings of fields: catalogs/edited/config_fields.yaml.
"""
