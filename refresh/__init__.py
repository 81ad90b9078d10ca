"""Brings today's prices from AWS into the catalogs: `make prices` or `python -m refresh`;
docs/prices.md tells how.

The app never imports it. Without credentials it reads the public offer files of EC2, Savings Plans,
SageMaker, Bedrock, S3, FSx and traffic, and the Spot Advisor; with them also spot prices by zone,
the shapes of instances, and what the account may have: quotas, offers of capacity blocks, spot
placement scores. It changes nothing at AWS.
"""
