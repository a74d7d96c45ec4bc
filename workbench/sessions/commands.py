"""Command lines as agents give them to a shell: which plain command one is, and whether it only looks."""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass
from functools import lru_cache

_OPERATORS = frozenset({"&&", "||", ";", "|", "&", "|&", "(", ")", ";;"})
_BARE = re.compile(r"[\w ./:=@%+,-]*")
"""A line in which no sign means anything to a shell."""
_LONGEST = 4096
"""Characters of a line that is taken apart; longer ones are programs of their own, handed to an interpreter."""
_EXPANSIONS = frozenset("$`*?~\n")
_LOOK_WORDS = """
[ awk basename cat cd cmp column cut date df diff dirname du echo egrep false fgrep file find grep head hostname id
jq less ls md5sum more nl od pgrep printenv printf ps pwd readlink realpath rg sed sha256sum sleep sort stat tail test
tr tree true type uname uniq wc which whoami xxd
"""
_LOOKS = frozenset(_LOOK_WORDS.split())
"""Programs that tell something and prove nothing about the work; ``sed`` and ``find`` with an edit count as none."""
_GIT_LOOK_WORDS = "status diff log show branch rev-parse ls-files blame remote describe shortlog"
_GIT_LOOKS = frozenset(_GIT_LOOK_WORDS.split())
_EDITS = frozenset({"-i", "--in-place", "-delete", "-exec", "-execdir", "-ok"})


@dataclass(frozen=True)
class Plain:
    """One command without a shell around it."""

    argv: tuple[str, ...]
    cwd: str | None


_REMEMBERED = 1 << 11
"""Command lines whose reading is remembered: the newest of a session are looked at again with every line that comes."""


@lru_cache(maxsize=_REMEMBERED)
def plain(command: str, cwd: str | None) -> Plain:
    """The argument list that a command line amounts to; empty where a shell does more than to split it.

    A leading ``cd FOLDER &&`` moves the folder, and errors sent the way of the output change nothing of how a
    command ends; anything else that a shell does (pipes, variables, further commands) does.
    """
    words = _words(command)
    if words is None:
        return Plain((), cwd)
    if len(words) > 3 and words[0] == "cd" and words[2] == "&&":
        cwd = posixpath.normpath(posixpath.join(cwd or "", words[1]))
        words = words[3:]
    if words[-2:] == ["2>&", "1"] or words[-3:] == ["2", ">&", "1"]:
        words = words[: -2 if words[-2:] == ["2>&", "1"] else -3]
    if not words or any(_is_operator(word) for word in words) or "=" in words[0]:
        return Plain((), cwd)
    bare = command.replace("2>&1", "")
    if _expands(bare):
        return Plain((), cwd)
    return Plain(tuple(_unquoted(word) for word in words), cwd)


@lru_cache(maxsize=1024)
def _words(command: str) -> list[str] | None:
    """The words and operators of a line, quotes still on them; None where it is none. Not to be changed."""
    if _BARE.fullmatch(command):
        return command.split()
    if len(command) > _LONGEST:
        return None
    lexer = shlex.shlex(command, posix=False, punctuation_chars=True)
    lexer.commenters = ""
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return None


def _is_operator(word: str) -> bool:
    return bool(word) and all(sign in "();<>|&" for sign in word)


def _unquoted(word: str) -> str:
    try:
        return "".join(shlex.split(word)) if any(sign in word for sign in "'\"\\") else word
    except ValueError:
        return word


def _expands(command: str) -> bool:
    """Whether a shell would put something else in the place of what stands there."""
    quote = ""
    escaped = False
    for sign in command:
        if escaped:
            escaped = False
        elif sign == "\\" and quote != "'":
            escaped = True
        elif quote:
            if sign == quote:
                quote = ""
            elif quote == '"' and sign in "$`":
                return True
        elif sign in "'\"":
            quote = sign
        elif sign in _EXPANSIONS:
            return True
    return False


@lru_cache(maxsize=_REMEMBERED)
def only_looks(command: str) -> bool:
    """Whether all that a line runs are programs that look: listings, searches, printing."""
    words = _words(command.replace("\n", " ; "))
    if not words:
        return False
    begin = True
    programs: list[list[str]] = []
    for word in words:
        if word in _OPERATORS:
            begin = True
        elif _is_operator(word):
            if ">" in word:
                return False
        elif begin:
            programs.append([word])
            begin = False
        else:
            programs[-1].append(word)
    return bool(programs) and all(_looks(words) for words in programs)


def _looks(words: list[str]) -> bool:
    program = words[0].rpartition("/")[2]
    if program == "git":
        return any(word in _GIT_LOOKS for word in words[1:3])
    return program in _LOOKS and not any(word in _EDITS or word.startswith("-i.") for word in words[1:])
