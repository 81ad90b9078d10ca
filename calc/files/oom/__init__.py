"""What a team pastes when memory ran out, read as text: torch's message, memory_summary, logs of serving engines; beside the estimate."""
