"""Reading key and value off a statement, in a form in which the same thing has the same name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from workbench.domain.fact import is_key, value_text
from workbench.domain.record import Json
from workbench.extraction.correcting import banned, banned_until, corrected, gist, is_told
from workbench.extraction.needs import grams
from workbench.extraction.notation import groups_of
from workbench.extraction.rules import Rules, rules_of, things
from workbench.extraction.sentences import head_of
from workbench.extraction.signs import full_commas, small

_ASIDE = re.compile(r"\s*[（(][^（()）]*[)）]?$")
_MARKS = "\"'`“”‘’「」『』()（）[]{}.,;:!。，；：！*_ \t"
_UNIT = re.compile(
    r"^([+-]?\d+(?:\.\d+)?)\s*(ms|s|sec|secs|seconds?|min|mins|minutes?|h|hours?|d|days?|kb|mb|gb|%|毫秒|秒钟?|分钟|小时|天)$",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"^(\d+)\s*(?:次|个|条|行|页|份|times|attempts|retries|items|rows|chars|characters|个字符|字符)?$", re.IGNORECASE
)
_UNITS = {
    "毫秒": "ms",
    "秒": "s",
    "秒钟": "s",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "分钟": "min",
    "mins": "min",
    "minute": "min",
    "minutes": "min",
    "小时": "h",
    "hour": "h",
    "hours": "h",
    "天": "d",
    "day": "d",
    "days": "d",
}
_TAKEN = re.compile(
    r"^(?:(?:please|let['’]s|we|now|just) )*(?:use|take|run on|go with|switch to|it['’]?s|it is) |"
    r"^(?:请|我们|就|现在|都)*(?:改?用|选|是)\s?",
    re.IGNORECASE,
)
_WITHIN_A_WORD = re.compile(r"[A-Za-z]{2}")
"""Around the end of what was found: a sentence goes on, and this is a piece of it."""
_LOOSE = re.compile(
    r"^(?:in|on|at|as|into|and|or|of|with)\b|\b(?:for|and|or|of|in|on|at|to|by|with|the|an?|our|your)$", re.IGNORECASE
)
"""A value that begins or ends so is cut out of a sentence."""
_UNTOUCHED = {"en": "do not touch", "zh": "不要动"}
"""The only thing forbidden that is read as a value: it is said of the whole of a thing, and covers all else."""
_REMINDS = re.compile(r"(?:别|不要|不能)忘|\b(?:don.?t|do not|never) (?:forget|fail)\b", re.IGNORECASE)
"""Forbids nothing: what comes after it is to be done."""
_PAIRED = (("「", "」"), ("『", "』"), ("“", "”"), ("‘", "’"))
_VERSIONED = re.compile(r"^([A-Za-z][\w.+#-]*?)[\s@]?v?(\d[\w.]*)$")


@dataclass(frozen=True)
class Reading:
    """What a statement says of which thing; ``old`` where it names what is put aside, with or without the thing."""

    key: str | None = None
    value: Json = None
    old: Json = None


@lru_cache(maxsize=16)
def read(text: str, rules: Rules, *, constraint: bool = False) -> Reading:
    """Key and value of a statement, as far as its words allow; the same one is asked about twice in a row."""
    body = rules.words["label"].sub("", full_commas(head_of(text)).strip().strip("*_").strip()).strip()
    body = gist(re.sub(r"^[\s\-*•]+", "", body), rules).rstrip(".!。！;； ")
    if is_told(body, rules):
        return Reading()
    excepts = rules.words["except"].search(body) is not None
    if not excepts and not body.endswith(("?", "？")):
        for said in banned(body, rules):
            if (denied := _banned(*said, rules)) is not None:
                return denied
    forbids = constraint and not excepts and rules.forbidding.search(body) is not None and not _REMINDS.search(body)
    if forbids and (found := rules.words["untouched"].fullmatch(body)):
        key = _key(found["key"], rules)
        if key and key not in rules.known_keys:
            return Reading(key, _UNTOUCHED[rules.language])
    keyless: Reading | None = None
    lowered = small(body)
    ban = 0 if excepts else banned_until(body, rules)
    words = grams(lowered.replace("\u2019", "'"), rules.language)
    for groups in corrected(body, lowered, words, rules):
        reading = _corrected(groups, rules)
        if reading is not None and reading.key is not None:
            return reading
        keyless = keyless or reading
    if forbids:
        # Many things are forbidden of one: under its name each would pass for another value of the one before.
        return keyless or Reading()
    for marker in rules.readings.among(rules.readings.called(words)):
        match = marker.search(body if marker.cased else lowered)
        if not match or _WITHIN_A_WORD.match(body, match.end() - 1):
            continue
        if not excepts and _is_denied(match, body, ban, rules):
            continue
        if reading := _reading(groups_of(match, body), rules):
            if reading.key is not None:
                return reading
            keyless = keyless or reading
    return keyless or Reading()


def only_denies(value: Json, old: Json) -> bool:
    """Whether what was read says of a value that it is not so, and of none that it is."""
    return old is not None and value == _denied(old)


def is_untouched(value: Json) -> bool:
    """Whether all that a value says of a thing is that it is to be left alone."""
    return value in _UNTOUCHED.values()


def _denied(value: Json) -> str:
    return f"not {value_text(value)}"


def _banned(key: str, value: str, instead: str | None, rules: Rules) -> Reading | None:
    """What is not to be so: a number, or the value of a thing that is known; else it is hardly a value."""
    found = _reading({"key": key, "value": value}, rules)
    if found is None or found.key is None or (isinstance(found.value, str) and len(found.value.split()) > 2):
        return None
    if found.key not in rules.known_keys and not re.match(r"v?\d", value_text(found.value)):
        return None
    now = _value(instead, rules)[0] if instead else None
    if now is not None:
        return Reading(found.key, now, found.value)
    return Reading(found.key, _denied(found.value), found.value)


def _is_denied(match: re.Match[str], body: str, ban: int, rules: Rules) -> bool:
    """Whether a value is named as what is not so: ``no longer on Python 3.11`` says nothing of what it is."""
    if match.start() < ban and not match.groupdict().get("old"):
        return True
    starts = [match.start(name) for name in ("key", "value", "place") if match.groupdict().get(name)]
    return any(rules.words["denies"].search(body[:start]) is not None for start in starts)


def _corrected(groups: dict[str, str | None], rules: Rules) -> Reading | None:
    """A correction: key and value of what it says is so now, and the value that it puts aside."""
    if gone := groups.get("gone"):
        key, (old, _of) = _key(groups["key"] or "", rules), _value(gone, rules)
        return Reading(key, _denied(old), old) if key is not None and old is not None else None
    rest = groups.get("rest")
    if rest is None:
        return _reading(groups, rules)
    old, of = _value(groups.get("old") or "", rules)
    bare = _TAKEN.sub("", rest)
    alone = bare != rest and re.search(r"\s", bare) is None
    now = Reading(*reversed(_value(bare, rules))) if alone else read(rest, rules)
    return Reading(now.key or of, now.value, old) if now.value is not None and old is not None else None


def without_label(text: str) -> str:
    """An open item without the word that says that it is one; the text itself where nothing else is left."""
    return rules_of(text).words["open_label"].sub("", text) or text


def _reading(groups: dict[str, str | None], rules: Rules) -> Reading | None:
    said = groups.get("value") or groups.get("place")
    if not said:
        return None
    if groups.get("place") and (said := _place(said, rules)) is None:
        return None
    value, of = _value(said, rules)
    before = groups.get("old")
    old, of_old = _value(before, rules) if before else (None, None)
    if value is None or value == "":
        return None
    if isinstance(value, str) and isinstance(old, str) and re.fullmatch(r"\d[\w.]*", str(said).strip(_MARKS)):
        versioned = _VERSIONED.match(old)
        if versioned and of_old:
            # ``not PostgreSQL 15, 16``: a bare number is a version of what was named.
            value, of = f"{versioned[1]} {value}", of_old
    elif isinstance(value, int) and isinstance(old, str) and of_old and (versioned := _VERSIONED.match(old)):
        value, of = f"{versioned[1]} {value}", of_old
    named = groups.get("key") or groups.get("listens") or groups.get("called")
    if named is not None:
        key = _key(named, rules)
        if key is None and of is None:
            return None
        if of and key and "." in of and of.split(".")[0] == key:
            key = of
        elif of and key not in rules.names.values():
            # What a known product is used *for* here says less than what it is.
            key = of
        elif key and groups.get("place"):
            key = f"{key}.location"
        elif key and groups.get("listens"):
            key = f"{key}.port"
        elif key and groups.get("called"):
            key = f"{key}_name"
        return Reading(key, value, old)
    key = of or of_old
    if key is None and (old is None or _is_piece(value, old)):
        return None
    return Reading(key, value, old)


def _is_piece(value: Json, old: Json) -> bool:
    """Whether what takes the place of a value that nothing names is a piece of a sentence and no value."""
    now, before = value_text(value), value_text(old)
    return len(now.split()) > len(before.split()) or _LOOSE.search(now) is not None or _LOOSE.search(before) is not None


def _place(said: str, rules: Rules) -> str | None:
    """Of the words that may say where something is those that name a place, if any do."""
    for part in rules.words["further"].split(said):
        text = part.strip(_MARKS)
        if rules.words["place"].search(text) and not rules.words["no_place"].search(text):
            return part
    return None


def _value(said: str, rules: Rules) -> tuple[Json, str | None]:
    """A value in its usual form, and the key that it is a value of, where its name tells."""
    text = rules.words["tail"].sub("", said.strip(_MARKS)).strip(_MARKS)
    text = _ASIDE.sub("", rules.words["article"].sub("", text)).strip(_MARKS)
    for opened, closed in _PAIRED:
        if text.count(opened) == text.count(closed) + 1:
            text += closed  # its end was taken for a mark around it
        elif text.count(opened) != text.count(closed):
            return None, None
    lowered = text.lower()
    if not text or len(text) > 60 or len(text.split()) > 6 or text.count("`") % 2 or text.count("(") != text.count(")"):
        return None, None
    known = things()
    if lowered in known.keys:
        return known.spelling[lowered], known.keys[lowered]
    if lowered in rules.values:
        value = rules.values[lowered]
        if value.isdecimal():
            return int(value), None
        return {"true": True, "false": False}.get(value, value), known.keys.get(value)
    if count := _COUNT.match(text):
        return int(count[1]), None
    if unit := _UNIT.match(text):
        return unit[1] + _UNITS.get(unit[2].lower(), unit[2].lower()), None
    if (version := _VERSIONED.match(text)) and version[1].lower() in known.keys:
        name = version[1].lower()
        return f"{known.spelling[name]} {version[2]}", known.keys[name]
    if "no_value" in rules.words and rules.words["no_value"].search(lowered):
        return None, None
    return text, None


def _key(said: str, rules: Rules) -> str | None:
    """The canonical name of a thing: an alias of the language, else its own words joined."""
    text = rules.words["verb"].sub("", said.strip(_MARKS))
    if "keytail" in rules.words:
        text = rules.words["keytail"].sub("", text) or text
    if text.lower() in rules.names:
        return rules.names[text.lower()]
    for _ in range(3):
        text = rules.words["article"].sub("", text).strip(_MARKS)
    lowered = re.sub(r"\s+", " ", text.lower())
    if lowered in rules.names:
        return rules.names[lowered]
    if rules.language == "zh" and lowered.rpartition("的")[2] in rules.names:
        return rules.names[lowered.rpartition("的")[2]]
    words = lowered.split()
    if not words or len(words) > 4 or rules.words["no_name"].search(lowered):
        return None
    if rules.language == "zh":
        if len(lowered) > 14:
            return None
        lowered = re.sub(r"\s*表$", "_table", lowered)
    key = re.sub(r"[^\w.-]+", "_", lowered).strip("._-")
    return key if key and is_key(key) and not key.isdecimal() else None
