"""What of a text is said by its speaker: code, logs, data and the words of others are taken out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Literal, NamedTuple

from workbench.extraction.sentences import pieces_of
from workbench.extraction.signs import CODE, HAN, QUOTE

LineKind = Literal["prose", "item", "box_open", "box_done", "heading", "todo", "code", "blank"]
LONGEST = 4000
"""Characters that are looked at together; a longer line of prose is looked at in pieces, any other is data."""

_FENCE = re.compile(r"\s*(```|~~~)")
_TODO = re.compile(r"(?://|#|/\*|<!--|--|;|%|\{-)\s*(?:TODO|FIXME|XXX|HACK)\b[^\n]*", re.IGNORECASE)
_TODO_WORD = re.compile("todo|fixme|xxx|hack|unimplemented")
_TODO_CALL = re.compile(r"\b(?:todo|unimplemented)!\(|\b(?:skip|xfail|ignore)\w*\([^)]{0,200}\b(?:TODO|FIXME)\b")
_TODO_HEADING = re.compile(r"#+\s*(?:TODO|FIXME)S?:?", re.IGNORECASE)
_BOX = re.compile(r"\s*(?:[-*+•]\s+)?\[([ xX✓✔-])\]\s+(.*)")
_NEXT_BOX = re.compile(r"(?<=\S)\s+(?=\[[ xX✓✔]\]\s)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\d{1,3}[.)、）])\s+(?=\S)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*)$")
_DATA_LINE = re.compile(
    # Written so that nothing is tried twice over: a line may be long, and made to be slow.
    r"""\s{4,}(?:\#|//)\s?\S | \s*+(?:
      [{\[].*[}\]],?\s*$                                # JSON
    | "[^"]+"\s*:\s*\S                                  # a member of it
    | [}\])]+[,;]?\s*$
    | \d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \[?\d\d:\d\d:\d\d | \d{1,2}:\d\d(?::\d\d)?\s?[AP]M\s  # logs
    | \[\d\d/\d\d/\d\d
    | \[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|CRITICAL|NOTICE)\]?[\s:]\s*[\w\[]
    | \[(?:error|warn(?:ing)?|info|debug|trace)\]\s | ={3,}\s[A-Z]+\s
    | (?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL)\b
    | (?:error|warning|fatal|panic|npm\sERR!|fail|FAIL|错误|报错|异常|警告)(?:\[\w+\])?\s?[:：!]
    | \w{3}\s+\d{1,2}\s\d\d:\d\d:\d\d\s\S+\s       # syslog
    | \d{4}-\d\d-\d\d\s+(?:ERROR|WARN|INFO|DEBUG)\b | (?:\w+=\S+\s+)+\w+=["“]
    | npm\s(?:ERR|WARN|notice) | <\d+> | [IWEF]\d{4}\s\d\d:\d\d | \d{4}/\d\d/\d\d\s\d\d:\d\d | [\w.-]+\s+\|\s
    | (?:remote|fatal|git|pytest|cargo|make|docker|kubectl|stderr|stdout):\s | 【(?:错误|警告|报错|日志)】
    | --\s\S | (?:\"{3}|'{3})
    | (?://|/\*|\*/|<!--)\s?\S | \#\s?[a-z]\w*(?:\s*=|\()       # comments
    | (?:raise|throw|assert|echo|printf?|puts|logger?|log|console|expect|return|yield|await|const|let|var|val)\b[\ .(]
      [^"'“‘]*["'“‘].*["'”’]
    | [\w.]+\(["'“].*["'”]\)?.*\)?;?\s*$
    | (?:\$|%|❯|>>>|PS\s?[A-Z]:\\\S*>)\s+\S             # commands
    | at\s+(?:\S{2,}|\S+\s+\S+):\d                          # stacks
    | File\s+"[^"]+",\s+line\s+\d+
    | Traceback\b | \w*(?:Error|Exception):\s
    | (?:On\sbranch|Your\sbranch\sis|nothing\sto\scommit|no\schanges\sadded|Untracked\sfiles|\(use\s"git)
    | (?:new\sfile\smode|deleted\sfile\smode|Changes\s(?:not\sstaged|to\sbe)|modified:|deleted:|renamed:)
    | (?:diff\s--git|@@\s|index\s[0-9a-f]{7}|---\s[ab]/|\+\+\+\s[ab]/)
    | [+](?!\s?\d).* | [+-](?![\s\d-])\S.*[;{(=]
    | \|.*\|\s*$ | [├└│┌┐┘─═║╔]                         # tables
    | (?:PASS|FAIL|SKIP|OK|not\sok|ok)\s+(?:\d+\s-\s)?(?=\S*\w[./]\w)\S++(?:\s|$)(?!is\b|are\b)  # runs, listings
    | [bcdlps-](?:[r-][w-][xsS-]){2}[r-][w-][xtT-] | ={2,}>\s | Successfully\s\w+ed\s.*\(
    | [+-]\s{2,}["']?\w[\w.-]*["']?\s?[:=]\s           # a changed line
    | .*\((?:exit|exit\scode|rc)[\s=]?\d+\)$
    | </?[a-zA-Z][\w-]*(?:\s[^>]*)?>                    # markup of harnesses
    | (?:import|from|const|let|var|func|def|class|return|public|private|package|export|if|for|while)\b.*(?:[;{(=]|:\s*$)
    | (?:SELECT|INSERT|UPDATE|CREATE)\b.*\b(?:FROM|INTO|SET|TABLE)\b
    | [\w.\[\]'"]+\s*(?:=|\+=|:=).+[;{(\[]\s*$ | [\w.]+\([^)]*\)\s*(?:;\s*)?$
    | \[(?:Request\ interrupted|Image)
    | [^\sA-Za-z\d\u3400-\u9fff]{3,}\s*$
    )""",
    re.VERBOSE,
)
_INDENTED_CODE = re.compile(r"(?:\t| {4}).*[;{}()=<>]")
_BLOCK_QUOTE = re.compile(r"\s{0,3}>\s?")
_BACKQUOTES = re.compile("`+")
_QUOTED = re.compile(
    r"“([^”\n]*)”|「([^」\n]*)」|『([^』\n]*)』|(?<![\w\"])\"([^\"\n]+)\"(?!\w)|(?<!\w)‘([^’\n]{12,})’"
    r"|(?<![A-Za-z0-9'])'((?:[^'\n]|(?<=[A-Za-z])'(?=[A-Za-z])){2,300})'(?![A-Za-z0-9'])"
)
_OPENS_QUOTE = re.compile("[“「『\"‘']")
_CLOSING = {"“": "”", "「": "」", "『": "』", "‘": "’"}
_SIGNS_OF_CODE = '{}<>=;\\|"_'
_RULING = re.compile(
    r"\b(?:never|always|must|do not|don.?t)\b"
    r"|禁止|严禁|不要|不得|不能|不许|不准|必须|务必|一律|请勿|保持|只读|[^区类级特个分]别",
    re.IGNORECASE,
)
"""What is no name, however short."""
_HAN = re.compile(f"[{HAN}]")
_LABELS = re.compile(r"[\w -]{2,24}[:：=]\s")
_COMMENT_PLACE = re.compile(r"([\w./-]+\.[A-Za-z]{1,5}):(\d+)|([\w./-]*\w\.[A-Za-z]{1,5})\b")


class Line(NamedTuple):
    """A line of a text, and what it is."""

    number: int
    kind: LineKind
    text: str
    """Without bullet, box or heading marks."""
    raw: str
    indent: int = 0


def lines_of(text: str) -> Iterator[Line]:
    """The lines of a text by what they are; wrapped prose is joined."""
    fenced: str | None = None
    traceback = False
    pending: Line | None = None
    for number, raw in _raw_lines(text):
        whole, fenced, traceback = _line(number, raw, fenced, traceback)
        for line in _of_bounded_length(whole):
            if pending is not None and _goes_on(pending, line):
                joined = f"{pending.text} {line.text.strip()}"
                pending = Line(pending.number, pending.kind, joined, joined, pending.indent)
                continue
            if pending is not None:
                yield pending
            pending = line
    if pending is not None:
        yield pending


def _of_bounded_length(line: Line) -> Iterator[Line]:
    """A line, in pieces where it is long prose."""
    if line.kind not in ("prose", "item") or len(line.text) <= LONGEST:
        yield line
        return
    for start, piece in pieces_of(masked(line.text), LONGEST):
        said = line.text[start : start + len(piece)].strip()
        if said:
            yield Line(line.number, line.kind, said, said, line.indent)


def _raw_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers; of several boxes in a line every one is a line."""
    for number, raw in enumerate(text.split("\n"), 1):
        box = _BOX.match(raw)
        first, *further = _NEXT_BOX.split(raw[box.start(2) :]) if box else (raw,)
        yield number, raw[: box.start(2)] + first if box else raw
        for piece in further:
            yield number, piece


def _line(number: int, raw: str, fenced: str | None, traceback: bool) -> tuple[Line, str | None, bool]:
    raw = raw.rstrip("\r")
    stripped = raw.strip()
    fence = _FENCE.match(raw)
    if fence:
        return Line(number, "code", "", raw), (None if fenced == fence[1] else fenced or fence[1]), False
    todo = _is_todo(raw) if "`" not in raw or fenced else False
    if todo and not _TODO_HEADING.fullmatch(stripped):
        return Line(number, "todo", stripped, raw), fenced, traceback
    if fenced:
        return Line(number, "code", "", raw), fenced, False
    if not stripped:
        return Line(number, "blank", "", raw), None, False
    if traceback or (len(raw) > LONGEST and not _is_long_prose(raw)):
        return Line(number, "code", "", raw), None, traceback
    box = _BOX.match(raw)
    if box:
        kind: LineKind = "box_open" if box[1] == " " else "box_done"
        return Line(number, kind, box[2], raw), None, False
    if _BLOCK_QUOTE.match(raw) or _DATA_LINE.match(raw) or _INDENTED_CODE.match(raw):
        return Line(number, "code", "", raw), None, stripped.startswith("Traceback")
    heading = _HEADING.match(raw)
    if heading:
        return Line(number, "heading", heading[1].rstrip("#").rstrip(), raw), None, False
    item = _ITEM.match(raw)
    if item:
        rest = raw[item.end() :]
        if _BLOCK_QUOTE.match(rest) or _DATA_LINE.match(rest):
            return Line(number, "code", "", raw), None, False
        return Line(number, "item", rest.strip(), raw, len(raw) - len(raw.lstrip())), None, False
    return Line(number, "prose", stripped, raw), None, False


def _is_long_prose(raw: str) -> bool:
    """Whether a line that is longer than most is talk, dictated or pasted without breaks, and not data or a program."""
    if _BOX.match(raw) or _HEADING.match(raw) or sum(map(raw.count, _SIGNS_OF_CODE)) * 25 > len(raw):
        return False
    return raw.count(" ") * 20 > len(raw) or len(_HAN.findall(raw)) * 3 > len(raw)


def _is_todo(raw: str) -> bool:
    """Whether a line is, or ends with, a comment or a call that says that something is to be done."""
    if not _TODO_WORD.search(raw.lower()):
        return False
    return _TODO.search(raw) is not None or _TODO_CALL.search(raw) is not None


def _goes_on(before: Line, line: Line) -> bool:
    """Whether a line is the rest of the one before, which an editor has wrapped."""
    if before.kind not in ("prose", "item") or line.kind != "prose" or len(before.text) < 60:
        return False
    if len(before.text) + len(line.text) >= LONGEST:
        return False
    if _LABELS.match(line.text):
        return False
    return before.text[-1] not in ".!?:;。！？：；" and (line.text[:1].islower() or before.text[-1] in ",，")


def masked(text: str) -> str:
    """``text`` with code and others' words replaced, character for character.

    Names stay: one quoted or coded word is a name, a sentence in quotation marks is somebody's words.
    """
    if "\n" in text:
        return "\n".join(map(masked, text.split("\n")))
    if "`" in text:
        text = _without_code(text)
    return _without_quotes(text) if _OPENS_QUOTE.search(text) else text


def _without_code(text: str) -> str:
    """A line with its code replaced: what stands between as many backquotes as next come alone.

    The ends are looked up, not searched for from every beginning: a line of backquotes takes no longer than another.
    """
    runs = [match.span() for match in _BACKQUOTES.finditer(text)]
    of_length: dict[int, list[int]] = {}
    for start, end in runs:
        of_length.setdefault(end - start, []).append(start)
    parts: list[str] = []
    done = 0
    for start, end in runs:
        if start < done:
            continue
        for length in range(end - start, 0, -1):  # of a longer run the last signs may begin it
            closing = of_length.get(length, [])
            after = bisect_left(closing, end)
            if after < len(closing):
                parts += text[done:end], _code(text[end : closing[after]])
                done = closing[after]
                parts.append(text[done : done + length])
                done += length
                break
    return "".join([*parts, text[done:]])


def _code(body: str) -> str:
    if " " in body.strip() or len(body) > 60 or not re.search(r"\w", body) or len(_HAN.findall(body)) > 3:
        return CODE * len(body)
    return body


def _without_quotes(text: str) -> str:
    """A line with others' words replaced; no end is looked for where none follows."""
    last = {opening: text.rfind(closing) for opening, closing in _CLOSING.items()}
    parts: list[str] = []
    done = 0
    for opening in _OPENS_QUOTE.finditer(text):
        start = opening.start()
        if start < done or last.get(opening[0], start) < start:
            continue
        if match := _QUOTED.match(text, start):
            parts += text[done:start], _mask_quote(match)
            done = match.end()
    return "".join([*parts, text[done:]])


def _mask_quote(match: re.Match[str]) -> str:
    body = next(group for group in match.groups() if group is not None)
    short = len(_HAN.findall(body)) <= 4 and len(body.split()) <= 2
    names = short and not re.search(r"[。！？!?]", body) and not _RULING.search(body)
    if names:
        return match[0]
    return match[0][0] + QUOTE * (len(match[0]) - 2) + match[0][-1]


def place_in(text: str) -> tuple[str, ...]:
    """The file, with its line where named, that a line of code came from."""
    found = _COMMENT_PLACE.search(text)
    if not found:
        return ()
    return (f"{found[1]}:{found[2]}",) if found[1] else (found[3],)
