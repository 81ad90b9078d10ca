"""Simulations of queues and caches with simpy and ciw, against what the plans of load say."""
