"""Tests of the workspace folder."""
