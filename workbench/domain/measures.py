"""Durations and sizes in the spellings people give them, so that one minute is sixty seconds."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

_MEASURE = re.compile(r"([+-]?\d{1,18}(?:\.\d{1,9})?)\s*([a-zµ\u3400-\u9fff]{1,12})", re.IGNORECASE)
_TIME = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "millisecond": Fraction(1, 1000),
    "毫秒": Fraction(1, 1000),
    "s": Fraction(1),
    "sec": Fraction(1),
    "second": Fraction(1),
    "秒": Fraction(1),
    "秒钟": Fraction(1),
    "min": Fraction(60),
    "minute": Fraction(60),
    "分钟": Fraction(60),
    "h": Fraction(3600),
    "hr": Fraction(3600),
    "hour": Fraction(3600),
    "小时": Fraction(3600),
    "d": Fraction(86400),
    "day": Fraction(86400),
    "天": Fraction(86400),
    "week": Fraction(604800),
    "周": Fraction(604800),
}
_SIZE = {
    "byte": 1,
    **{f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", 1)},
    **{f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", 1)},
}


@lru_cache(maxsize=1024)
def measured(text: str) -> tuple[str, Fraction] | None:
    """What a duration or a size comes to, in seconds or bytes; None where a text is neither.

    Args:
        text: A number with its unit: ``45 s``, ``45000ms``, ``2 分钟``, ``1.5 MB``.
    """
    match = _MEASURE.fullmatch(text.strip())
    if match is None:
        return None
    number, unit = Fraction(match[1]), match[2].lower()
    for name in (unit, unit.removesuffix("s")):
        if name in _TIME:
            return "time", number * _TIME[name]
        if name in _SIZE:
            return "size", number * _SIZE[name]
    return None
