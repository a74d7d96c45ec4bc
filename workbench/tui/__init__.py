"""The terminal app: panes over one immutable view, and three interactions that change the workspace."""
