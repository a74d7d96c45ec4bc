"""The gate ``mask``: secrets are replaced by span before anything is stored; the text around them stays.

Each rule names a form that is a secret by its shape, or a literal value that stands where a secret
is assigned. Hashes, ids, prose and references to the environment stay as they are. A rule runs only
where one of its needles (plain substrings) stands, so that long texts cost little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

_LETTERS = "A-Za-z0-9"
_START = rf"(?<![{_LETTERS}_-])"
_END = rf"(?![{_LETTERS}_-])"


class _Rule(NamedTuple):
    kind: str
    needles: tuple[str, ...]
    """Where a match may begin."""
    pattern: str
    """Its group ``secret`` is what is replaced; all of it where there is no such group."""
    folded: bool = False
    """The needles are lower case and count in any."""


def _form(kind: str, needles: str, pattern: str, *, free: bool = False) -> _Rule:
    """A secret known by its shape; ``free`` where it need not stand alone as a word."""
    return _Rule(kind, tuple(needles.split()), pattern if free else _START + pattern)


_ARMOUR = r"-----BEGIN (?P<label>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----[\s\S]*?(?:-----END (?P=label)-----|\Z)"
# A long name in kebab case begins so too, but has no run of 16 letters and digits.
_OPENAI = (
    r"sk-(?=[A-Za-z0-9_\-]{0,200}[A-Za-z0-9_]{16})(?=[A-Za-z_\-]{0,200}[0-9])"
    rf"(?:[A-Za-z0-9]+-){{0,3}}[A-Za-z0-9_\-]{{20,255}}{_END}"
)
_FORMS = (
    _form("private-key", "-----BEGIN", _ARMOUR, free=True),
    _form("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"gh[pousr]_[{_LETTERS}]{{30,255}}{_END}", free=True),
    _form("github-token", "github_pat_", rf"github_pat_[A-Za-z0-9_]{{30,255}}{_END}", free=True),
    _form("gitlab-token", "glpat- gldt- glrt- glft- glsoat-", rf"gl[a-z]{{2,4}}-[A-Za-z0-9_\-]{{18,255}}{_END}"),
    _form("anthropic-key", "sk-ant-", rf"sk-ant-[A-Za-z0-9_\-]{{20,255}}{_END}"),
    _form("stripe-key", "sk_ rk_ pk_", rf"[srp]k_(?:live|test)_[{_LETTERS}]{{16,255}}{_END}"),
    _form("webhook-secret", "whsec_", rf"whsec_[{_LETTERS}+/=]{{24,255}}{_END}"),
    _form("api-key", "sk-", _OPENAI),
    _form("slack-token", "xox", rf"xox[abeoprs]-[A-Za-z0-9-]{{10,255}}{_END}"),
    _form("slack-token", "xapp-", rf"xapp-[0-9]-[A-Za-z0-9-]{{10,255}}{_END}"),
    _form(
        "slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/services/(?P<secret>[A-Za-z0-9/_-]{20,255})", free=True
    ),
    _form("aws-key-id", "AKIA ASIA ABIA ACCA", rf"(?<![A-Z0-9])A[KSBC][IC]A[A-Z0-9]{{16}}{_END}", free=True),
    _form("google-key", "AIza", rf"AIza[A-Za-z0-9_\-]{{35}}{_END}"),
    _form("google-token", "ya29.", r"ya29\.[A-Za-z0-9_\-]{20,2000}"),
    _form("google-secret", "GOCSPX-", rf"GOCSPX-[A-Za-z0-9_\-]{{20,64}}{_END}"),
    _form("npm-token", "npm_", rf"npm_[{_LETTERS}]{{36}}{_END}"),
    _form("pypi-token", "pypi-", rf"pypi-[A-Za-z0-9_\-]{{40,2000}}{_END}"),
    _form("huggingface-token", "hf_", rf"hf_[{_LETTERS}]{{30,64}}{_END}"),
    _form("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{32,64}"),
    _form("telegram-token", ":AA", rf"(?<=[0-9]{{8}}):(?P<secret>AA[A-Za-z0-9_\-]{{32,34}}){_END}", free=True),
    _form("jwt", "eyJ", r"eyJ[A-Za-z0-9_\-]{8,4000}\.eyJ[A-Za-z0-9_\-]{8,4000}\.[A-Za-z0-9_\-]{8,2000}"),
    _form("password", "://", r"://[^\s/:@'\"<>]{0,80}:(?P<secret>[^\s/@'\"<>$*{}«]{3,200})@(?=[^\s@])", free=True),
)

_HEADERS = (
    _Rule(
        "token",
        ("authorization",),
        r"(?i:authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token)\s+)"
        r"(?P<secret>[A-Za-z0-9._~+/\-]{8,}=*)",
        folded=True,
    ),
    _Rule(
        "token",
        ("bearer",),
        r"(?i:bearer\s+)(?P<secret>(?=[A-Za-z._~+/\-]*[0-9])[A-Za-z0-9._~+/\-]{16,}=*)",
        folded=True,
    ),
)

_CORE = (
    r"(?:password|passwd|passphrase|passcode|pwd|secret|token|api[_\-]?key|access[_\-]?key|"
    r"private[_\-]?key|auth[_\-]?key|credentials?)(?:[_\-]?(?:id|key|value|access[_\-]?key))?"
)
_ASSIGNED = _Rule(
    "secret",
    ("pass", "pwd", "secret", "token", "api", "access", "private", "auth", "credential"),
    # The name stands alone, behind a separator, or as a capitalised part of another name.
    rf"(?:(?<![A-Za-z0-9])|(?<=[a-z0-9])(?=[A-Z]))(?P<name>(?i:{_CORE}))"
    r"(?P<quote>\\?[\"'`]?)[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}"
    r"(?:(?P<open>\\?[\"'`])(?P<quoted>[^\"'`\\\n]{3,400})(?P=open)"
    r"|(?P<plain>[^\s\"'`,;(){}\[\]<>$&|\\]{6,400}))",
    folded=True,
)
_SECRET_NAME = re.compile(
    rf"(?:.{{0,400}}[^A-Za-z0-9])?(?i:{_CORE})|.{{0,400}}[a-z0-9](?=[A-Z])(?i:{_CORE})", re.DOTALL
)
_PASSWORD = r"(?i)pass|pwd|secret"
# Values that name where a secret comes from, or stand for one, and are none themselves.
_REFERENCE = (
    r"(?ix) ^(?: env[:.] | os\. | process\. | import | self\. | config | settings | args\. | \$ | % | < | \{ |"
    r" (?:none|null|nil|true|false|undefined|required|optional|string|str|redacted|masked|missing|invalid|changeme) $ |"
    r" [*x.…\-_]+ $ | your[-_ ] | example | placeholder | get[a-z_]* \( )"
)
_CODE = r"^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+$|^[A-Za-z_][\w.]*[(\[]"


_NEEDLES = tuple((needle, rule) for rule in _FORMS for needle in rule.needles)
_PLAIN_NEEDLES = tuple(needle for needle, _ in _NEEDLES)
_FOLDED_NEEDLES = tuple(needle for rule in (*_HEADERS, _ASSIGNED) for needle in rule.needles)
_SHORT = 32
"""Characters up to which most texts hold no needle."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)  # when something looks like that secret: start-up counts


def mask(text: str) -> str:
    """``text`` with every secret replaced by ``«masked:KIND»``; masking twice changes nothing more."""
    if len(text) <= _SHORT and not _holds_needle(text):
        return text
    for rule in dict.fromkeys([rule for needle, rule in _NEEDLES if needle in text]):
        text = _apply(rule, text, text)
    folded = _lower(text)
    for rule in (*_HEADERS, _ASSIGNED):
        masked = _apply(rule, text, folded) if any(needle in folded for needle in rule.needles) else text
        if masked is not text:
            text, folded = masked, _lower(masked)
    return text


def _lower(text: str) -> str:
    """Lower case with every character at its place: a few letters would become two."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if c.isascii() else c for c in text)


def _apply(rule: _Rule, text: str, where: str) -> str:
    pieces: list[str] = []
    done = 0
    for start in _starts(rule.needles, where):
        match = _compiled(rule.pattern).match(text, start) if start >= done else None
        if match is None:
            continue
        group = _secret_in(match)
        if group is None:
            continue
        pieces += (text[done : match.start(group)], f"«masked:{rule.kind}»")
        done = match.end(group)
    return "".join([*pieces, text[done:]]) if pieces else text


def _starts(needles: tuple[str, ...], text: str) -> Iterator[int]:
    found: list[int] = []
    for needle in needles:
        at = text.find(needle)
        while at >= 0:
            found.append(at)
            at = text.find(needle, at + 1)
    return iter(sorted(found))


def _secret_in(match: re.Match[str]) -> str | int | None:
    """The group of a match that is to go; None where it is no secret after all."""
    groups = match.re.groupindex
    if "quoted" in groups:
        group = "quoted" if match.group("quoted") is not None else "plain"
        return group if _literal(match.group("name"), match.group(group), quoted=group == "quoted") else None
    return "secret" if "secret" in groups else 0


def _literal(name: str, value: str, *, quoted: bool) -> bool:
    """Whether an assigned value is a secret itself and not a name, a reference, or a word of prose."""
    if _compiled(_REFERENCE).search(value) or "«" in value or " " in value.strip():
        return False
    digits = any(c.isdigit() for c in value)
    if _compiled(_PASSWORD).search(name) is None and (value.isdigit() or not (digits or len(value) >= 16)):
        return False  # a kind of token, a count, a name of a key
    if quoted:
        return True
    # Unquoted, a plain word is more likely prose or code than a secret.
    return _compiled(_CODE).search(value) is None and (digits or any(c in "!@#%^*+=/~" for c in value))


def mask_bytes(data: bytes) -> bytes:
    """The same for the content of a file; bytes that are no UTF-8 stay as they are."""
    text = data.decode("utf-8", "surrogateescape")
    masked = mask(text)
    return data if masked == text else masked.encode("utf-8", "surrogateescape")


def mask_json(value: Any) -> Any:
    """A JSON value with every string in it masked, also what stands under a key like ``password``."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {_mask_key(key): _under(key, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask_json(item) for item in value]
    return value


@lru_cache(maxsize=1024)
def _mask_key(key: str) -> str:
    return mask(key)  # the same few keys stand in most documents


def _may_hold_secret(document: dict[str, Any]) -> bool:
    """Whether a needle stands in the keys or texts of a document: one look at all of them.

    A name of a secret holds one, too.
    """
    texts: list[str] = []
    _collect(document, texts)
    return _holds_needle("\n".join(texts))


def _collect(value: dict[str, Any] | list[Any] | tuple[Any, ...], texts: list[str]) -> None:
    if isinstance(value, dict):
        texts += [key for key in value if _key_holds_needle(key)]
        value = list(value.values())
    for item in value:
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, (dict, list, tuple)):
            _collect(item, texts)


def _holds_needle(text: str) -> bool:
    for needle in _PLAIN_NEEDLES:  # so often that a generator would count
        if needle in text:
            return True
    text = text.lower()
    for needle in _FOLDED_NEEDLES:  # noqa: SIM110
        if needle in text:
            return True
    return False


_key_holds_needle = lru_cache(maxsize=1024)(_holds_needle)


def _under(key: str, value: Any) -> Any:
    if isinstance(value, str) and len(value) >= 3 and names_secret(key) and _literal(key, value, quoted=True):
        return "«masked:secret»"
    return mask_json(value)


@lru_cache(maxsize=1024)
def names_secret(key: str) -> bool:
    """Whether a key is the name of a secret (``db.password``, ``API_KEY``, ``accessToken``)."""
    return _SECRET_NAME.fullmatch(key) is not None


def mask_document(document: dict[str, Any]) -> dict[str, Any]:
    """A record's document, masked; where its ``key`` names a secret, its ``value`` is one."""
    if not _may_hold_secret(document):
        return document
    masked: dict[str, Any] = mask_json(document)
    key, value = document.get("key"), document.get("value")
    if isinstance(key, str) and isinstance(value, str):
        masked["value"] = _under(key, value)
    return masked
