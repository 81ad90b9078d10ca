"""Configs of training and serving tools as scenario rows: what each field means stands in catalogs/edited/config_fields.yaml."""
