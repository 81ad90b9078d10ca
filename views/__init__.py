"""The dashboard: pages, panels, wording, charts, the sidebar and the state of a session."""
