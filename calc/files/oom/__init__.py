"""Out-of-memory texts of torch and of serving engines, compared with the estimate."""
