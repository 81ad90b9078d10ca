"""What a session holds, and how its widgets keep their values from page to page."""

from typing import Any

SESSION: dict[str, Any] = {"persist_state": "session"}  # of widgets that are not on every page
