"""Sessions of coding agents: files found, read and followed as neutral messages."""

from __future__ import annotations

from workbench.sessions.discovery import discover
from workbench.sessions.follow import SessionLog
from workbench.sessions.formats import open_session
from workbench.sessions.model import FoundSession, Refresh, SessionInfo

__all__ = ["FoundSession", "Refresh", "SessionInfo", "SessionLog", "discover", "open_session"]
