"""Codex: rollout files of its command line, desktop and editor programs."""
