"""The fixtures of :mod:`handoff_bench`, for every test of this folder."""

from handoff_bench import bench, planned, repo, stand_in

__all__ = ["bench", "planned", "repo", "stand_in"]
