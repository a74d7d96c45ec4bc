"""The gate ``mask``: secrets are replaced by span before anything is stored; the text around them stays.

Each rule names a form that is a secret by its shape, or a literal value that stands where a secret
is assigned. Hashes, ids, prose and references to the environment stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

_LETTERS = "A-Za-z0-9"
_START = rf"(?<![{_LETTERS}_-])"
_END = rf"(?![{_LETTERS}_-])"

_FORMS: tuple[tuple[str, str], ...] = (
    (
        "private-key",
        r"-----BEGIN (?P<label>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----[\s\S]*?(?:-----END (?P=label)-----|\Z)",
    ),
    ("github-token", _START + rf"gh[pousr]_[{_LETTERS}]{{30,255}}" + _END),
    ("github-token", _START + r"github_pat_[A-Za-z0-9_]{30,255}" + _END),
    ("gitlab-token", _START + r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_\-]{18,255}" + _END),
    ("anthropic-key", _START + r"sk-ant-[A-Za-z0-9_\-]{20,255}" + _END),
    ("stripe-key", _START + rf"(?:sk|rk|pk)_(?:live|test)_[{_LETTERS}]{{16,255}}" + _END),
    ("webhook-secret", _START + rf"whsec_[{_LETTERS}+/=]{{24,255}}" + _END),
    ("api-key", _START + r"sk-(?=[A-Za-z0-9_\-]*[0-9])(?:[A-Za-z0-9]+-){0,3}[A-Za-z0-9_\-]{20,255}" + _END),
    ("slack-token", _START + r"xox[abeoprs]-[A-Za-z0-9-]{10,255}" + _END),
    ("slack-token", _START + r"xapp-[0-9]-[A-Za-z0-9-]{10,255}" + _END),
    ("slack-webhook", r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/_-]{20,255}"),
    ("aws-key-id", _START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}" + _END),
    ("google-key", _START + r"AIza[A-Za-z0-9_\-]{35}" + _END),
    ("google-token", _START + r"ya29\.[A-Za-z0-9_\-]{20,2000}"),
    ("google-secret", _START + r"GOCSPX-[A-Za-z0-9_\-]{20,64}" + _END),
    ("npm-token", _START + rf"npm_[{_LETTERS}]{{36}}" + _END),
    ("pypi-token", _START + r"pypi-[A-Za-z0-9_\-]{40,2000}" + _END),
    ("huggingface-token", _START + rf"hf_[{_LETTERS}]{{30,64}}" + _END),
    ("sendgrid-key", _START + r"SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{32,64}"),
    ("telegram-token", r"(?<![0-9A-Za-z])[0-9]{8,10}:AA[A-Za-z0-9_\-]{32,34}" + _END),
    ("jwt", _START + r"eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}"),
)

# What surrounds a secret: the named group `secret` alone is replaced.
_AROUND: tuple[tuple[str, str], ...] = (
    ("password", r"(?i:[a-z][a-z0-9+.\-]{1,20}://)[^\s/:@'\"<>]{0,80}:(?P<secret>[^\s/@'\"<>$*{}]{3,200})@(?=[^\s@])"),
    (
        "token",
        r"(?i:\bauthorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+)(?P<secret>[A-Za-z0-9._~+/\-]{8,}=*)",
    ),
    ("token", r"(?i:\bbearer\s+)(?P<secret>(?=[A-Za-z._~+/\-]*[0-9])[A-Za-z0-9._~+/\-]{16,}=*)"),
)

_NAME = (
    r"(?:[A-Za-z0-9]{1,40}[_.\-]){0,6}"
    r"(?:password|passwd|passphrase|passcode|pwd|secret|token|api[_\-]?key|apikey|access[_\-]?key|"
    r"secret[_\-]?key|private[_\-]?key|auth[_\-]?key|client[_\-]?secret|credential|credentials)"
    r"(?:[_\-](?:id|key|value|access[_\-]?key))?"
)
_ASSIGNED = re.compile(
    rf"(?<![A-Za-z0-9])(?P<name>(?i:{_NAME}))(?P<quote>\\?[\"'`]?)\s*(?::=|=>|[:=])\s*"
    r"(?:(?P<open>\\?[\"'`])(?P<quoted>[^\"'`\\\n]{3,400})(?P=open)|(?P<plain>[^\s\"'`,;(){}\[\]<>$&|\\]{6,400}))"
)
_PASSWORD = re.compile(r"(?i)pass|pwd|secret")
_SECRET_NAME = re.compile(rf"(?i:{_NAME})")
_RULES = tuple((name, re.compile(pattern)) for name, pattern in (*_FORMS, *_AROUND))
# One cheap look decides for most texts that no rule needs to run.
_HINT = re.compile(
    r"(?i)gh[pousr]_|github_pat_|gl[a-z]{2,4}-|sk[-_]|rk_|pk_|whsec_|xox|xapp-|hooks\.slack|akia|asia|abia|acca|aiza|"
    r"ya29|gocspx|npm_|pypi-|hf_|sg\.|:aa|eyj|-----begin|://|bearer|authorization|pass|pwd|secret|token|key|credential"
)
# Values that name where a secret comes from, or stand for one, and are none themselves.
_REFERENCE = re.compile(
    r"(?ix) ^(?: env[:.] | os\. | process\. | import | self\. | config | settings | args\. | \$ | % | < | \{ | \« |"
    r" (?:none|null|nil|true|false|undefined|required|optional|string|str|redacted|masked|missing|invalid|changeme) $ |"
    r" [*x.…\-_]+ $ | your[-_ ] | example | placeholder | get[a-z_]* \( )"
)
_CODE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+$|^[A-Za-z_][\w.]*[(\[]")


def _mark(kind: str) -> str:
    return f"«masked:{kind}»"


def mask(text: str) -> str:
    """``text`` with every secret replaced by ``«masked:KIND»``; masking twice changes nothing more."""
    if _HINT.search(text) is None:
        return text
    for kind, rule in _RULES:
        if "secret" in rule.groupindex:
            text = rule.sub(lambda m, kind=kind: _inside(m, "secret", kind), text)  # type: ignore[misc]
        else:
            text = rule.sub(_mark(kind), text)
    return _ASSIGNED.sub(_assignment, text)


def _inside(match: re.Match[str], group: str, kind: str) -> str:
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    whole = match.group()
    return whole if "«" in match.group(group) else whole[:start] + _mark(kind) + whole[end:]


def _assignment(match: re.Match[str]) -> str:
    group = "quoted" if match.group("quoted") is not None else "plain"
    if not _literal(match.group("name"), match.group(group), quoted=group == "quoted"):
        return match.group()
    return _inside(match, group, "secret")


def _literal(name: str, value: str, *, quoted: bool) -> bool:
    """Whether an assigned value is a secret itself and not a name, a reference, or a word of prose."""
    if _REFERENCE.search(value) or "«" in value or " " in value.strip():
        return False
    digits = any(c.isdigit() for c in value)
    if _PASSWORD.search(name) is None and (value.isdigit() or not (digits or len(value) >= 16)):
        return False  # a kind of token, a count, a name of a key
    if quoted:
        return True
    # Unquoted, a plain word is more likely prose or code than a secret.
    return _CODE.search(value) is None and (digits or any(c in "!@#%^*+=/~" for c in value))


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
        return {mask(key): _under(key, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask_json(item) for item in value]
    return value


def _under(key: str, value: Any) -> Any:
    if isinstance(value, str) and names_secret(key) and len(value) >= 3 and _literal(key, value, quoted=True):
        return _mark("secret")
    return mask_json(value)


def names_secret(key: str) -> bool:
    """Whether a key is the name of a secret (``db.password``, ``API_KEY``)."""
    return _SECRET_NAME.fullmatch(key) is not None


def mask_document(document: dict[str, Any]) -> dict[str, Any]:
    """A record's document, masked; where its ``key`` names a secret, its ``value`` is one."""
    masked: dict[str, Any] = mask_json(document)
    key, value = document.get("key"), document.get("value")
    if isinstance(key, str) and isinstance(value, str) and names_secret(key):
        masked["value"] = _under(key, value)
    return masked
