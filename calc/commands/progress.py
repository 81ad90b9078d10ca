"""Progress of a long run, on standard error."""

import sys
from time import monotonic

TERMINAL_SECONDS, QUIET_SECONDS = 1, 10  # between two reports, on a terminal and elsewhere


class Progress:
    """Rows and their pace, from time to time."""

    def __init__(self, unit: str) -> None:
        self.unit, self.rows, self.seconds = unit, 0, 0.0
        self.begun, self.reported, self.terminal = monotonic(), 0.0, sys.stderr.isatty()

    def __str__(self) -> str:
        return f"{self.rows:,} {self.unit}, {self.rows / max(self.seconds, 0.001):,.0f} per second"

    def add(self, rows: int, more: str = "") -> None:
        """Count further rows; say so if the last report is long enough ago."""
        self.rows, self.seconds = self.rows + rows, monotonic() - self.begun
        if self.seconds - self.reported >= (TERMINAL_SECONDS if self.terminal else QUIET_SECONDS):
            self.reported = self.seconds
            line = f"{self}{more}"
            print(
                f"\r{line:<50}" if self.terminal else line,
                end="" if self.terminal else "\n",
                file=sys.stderr,
                flush=True,
            )

    def close(self) -> None:
        """End the line of a terminal."""
        if self.reported and self.terminal:
            print(file=sys.stderr)
