"""Widgets: one a file, its style beside it."""
