"""Handoff Workbench: hand a task from one coding agent to another with its state, facts and evidence."""

__version__ = "0.1.0"
