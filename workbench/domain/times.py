"""Times: stored as UTC text (``2026-03-01T10:00:00Z``), compared as instants."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from workbench.errors import UsageError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def stamp(moment: datetime) -> str:
    """UTC text of an aware ``moment``: whole seconds, or milliseconds where there are any."""
    moment = moment.astimezone(UTC)
    form = "milliseconds" if moment.microsecond >= 1000 else "seconds"
    return moment.replace(tzinfo=None).isoformat(timespec=form) + "Z"


@lru_cache(maxsize=1 << 12)
def instant(text: str | None) -> datetime:
    """The moment that stored text names; text that names none sorts before everything (epoch)."""
    if not text:
        return EPOCH
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return EPOCH
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def parse_time(text: str, option: str) -> datetime:
    """The value of an option that takes a time.

    Raises:
        UsageError: It is not an ISO 8601 time.
    """
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"{option} {text!r} is not a time", "write it like 2026-03-01T10:00:00Z") from None


def parse_now(text: str) -> datetime:
    """The value of ``--now``.

    Raises:
        UsageError: It is not an ISO 8601 time.
    """
    return parse_time(text, "--now")
