"""Out-of-memory texts: torch's message, memory_summary and the logs of serving engines, read and compared with the estimate."""
