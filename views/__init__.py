"""The dashboard: pages, their panels, words and charts, the sidebar, and what a session holds."""
