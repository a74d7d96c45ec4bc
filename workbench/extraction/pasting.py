"""Which lines of a message its sender did not write, as they read: a document, a mail, another's answer.

What is pasted is not the person's word (``extraction.md``). Where she says that something follows, all that follows is
another's; else a message that is shaped as nobody types is another's as a whole.
"""

from __future__ import annotations

import re

from workbench.extraction.sources import is_anothers, is_introduction, is_own, names_source

LONGEST_TYPED = 1500
"""Characters that a person types at a stretch; what is longer is mostly pasted."""
_LONG = 700
"""From here on length is one sign among others."""

_NOT_HERS = re.compile(
    r"\b(?:i|we)(?:['’]ve| have| had)? (?:\w+ )?(?:say|said|wrote|told|asked|meant|sent)\b|我们?(?:刚|之前)?(?:说|写)",
    re.IGNORECASE,
)
_SAID = (
    r"\b(?:says?|said|wrote|writes|written|states?|repl(?:y|ies|ied)|answer(?:s|ed)|ask(?:s|ed)|sent|sends|posted|told|"
    r"tells|suggest(?:s|ed)|propos(?:es|ed)|report(?:s|ed)|came back with|got (?:this|back)|received)\b"
)
_LOOK = (
    r"\b(?:read|look(?:ing)? (?:at|over|through)|see|check|review|consider|comment on|translate|summari[sz]e|compare|"
    r"explain|analy[sz]e|proof-?read|rewrite|rephrase|improve|what do you think|tell me what|what does)\b"
)
_PUT = (
    r"\b(?:add|put|insert|append|paste|copy|write|print|send|post|commit)\b.*"
    r"\b(?:this|these|the following|following)\b.*\b(?:to|into|in|as|on|at|under)\b"
)
_PIECE = (
    r"(?:readme|docs?|documentation|documents?|e-?mail|mail|messages?|chat|logs?|outputs?|errors?|trace(?:back)?|page|"
    r"tickets?|issues?|threads?|comments?|repl(?:y|ies)|answers?|responses?|text|snippet|transcript|article|spec|"
    r"guidelines?|changelog|diff|quote|contents?)"
)
_HERE = (
    rf"\b(?:here(?:['’]s| is| are)|this is|these are|that is|from|below is|below are|attached)\b.*\b{_PIECE}\b|"
    rf"\b(?:see|text|copied|pasted) below\b|\b{_PIECE}$"
)
_LEADS_EN = re.compile(rf"(?:{_SAID}|{_LOOK}|{_PUT}|{_HERE})", re.IGNORECASE)
_LEADS_ZH = re.compile(
    r"(?:说|写道|写的|回复|回答|答复|发来|发的|提到|建议|反馈|转发)(?:了|的|是|如下|这个|这段|过来)*$"
    r"|(?:看看|看一下|看下|读一下|读读|请看|请读|翻译|总结|解释|检查|评价|评审|对比|分析|改写|润色)"
    r"|(?:这是|下面是|以下是|附上|贴一下|如下).*(?:日志|输出|报错|错误|邮件|文档|消息|聊天|回复|回答|"
    r"内容|文件|代码|文章|说明|原文)"
    r"|把(?:这|下面|以下).*(?:写|加|放|贴)(?:到|进|入|在)"
)
_COLON = re.compile(r"[:：][*_ \t]*$")
_MAIL = re.compile(
    r"^[> \t]*(?:\*\*)?(?:From|To|Cc|Subject|Date|Sent|Reply-To|发件人|收件人|抄送|主题|日期|发送时间)(?:\*\*)?"
    r"[ \t]*[:：][ \t]?\S",
    re.MULTILINE,
)
_WROTE = re.compile(
    r"^(?:On .{6,80} wrote:|-{3,} ?(?:Original|Forwarded) [Mm]essage ?-{3,}|-{3,} ?(?:原始|转发的?)邮件 ?-{3,})$",
    re.MULTILINE,
)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_GOT = re.compile(
    rf"\b(?:got|received|have|had|saw|there (?:is|was)) (?:this|these|the following) (?:\w+ ){{0,2}}{_PIECE}\b"
    r".{0,200}\bfrom\b",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"[✅❌⚠🚀✔✗⨯♻│├└┌]|^[ \t]*[👀✨📊📦🔍🔧🧪🐛📝⏳]\ufe0f? [A-Z]"  # of programs' output, not of talk
    r"|^\[\d\d/\d\d/\d\d \d\d:\d\d|^[\w.-]+@[\w.-]+[: ][^\s$#%]*[$#%] "
    r"|^[ \t]*\|[^\n]*\|[ \t]*$|\A\s*<([A-Za-z][\w-]*)(?:\s[^<>]*)?>.*</\1>\s*\Z",
    re.MULTILINE | re.DOTALL,
)
_BOLD_LABEL = re.compile(r"^[ \t]*(?:[-*+•]\s+|\d+[.)]\s+)?\*\*[^*\n]{1,40}(?:[:：]\*\*|\*\*\s*[:：])", re.MULTILINE)
_SPEAKER = re.compile(
    r"^(?:\[?\d{1,2}:\d\d(?::\d\d)?(?: ?[AP]M)?\]? +)?(?:\*\*)?([A-Z][\w.-]{1,20}|[\u3400-\u9fff]{2,4})(?:\*\*)?"
    r"[:：](?:\*\*)?[ \t]\S",
    re.MULTILINE,
)
_TALKERS = frozenset(
    {"user", "assistant", "human", "claude", "codex", "chatgpt", "gpt", "gemini", "copilot", "cursor", "ai", "agent"}
    | {"用户", "助手"}
)
_BOLD = re.compile(r"\*\*[^*\n]+\*\*")
_WEAK = (
    re.compile(r"^#{1,6} \S", re.MULTILINE),
    re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE),
    re.compile(r"^[ \t]*\*\*[^*\n]+\*\*[:：.]?\s*$", re.MULTILINE),
    re.compile(r"</?[a-z][\w-]*(?:\s[^<>]*)?>"),
    re.compile(r"^[ \t]*\+ ?\S|\bLine \d+\b", re.MULTILINE),
    re.compile(r"\[[^\]\n]{1,300}\]\(https?://[^)\n]+\)|^!\[", re.MULTILINE),
)
"""Shapes that a person may type, though seldom two of them in one message."""
_HEADING = re.compile(r"[ \t]*#{1,6} \S")
_IS_HERS = re.compile(
    r"(?:please|pls|can you|could you|let['’]?s|i (?:want|agree|disagree|(?:do not|don['’]?t) (?:want|"
    r"agree|think)|would"
    r"|like|prefer|need you)|i['’]d (?:like|rather|prefer)|i['’]m (?:fine|ok|okay|happy|not)|my (?:take|view|opinion)"
    r"|(?:ok|okay|yes|no|so)[,.] |(?:fix|address|ignore|skip|implement|apply|do) (?:this|these|those|"
    r"them|it|all|only|the "
    r"(?:above|first|last))|what do you think|thoughts\?)(?![\w-])"
    r"|(?:请|麻烦|帮我|我(?:觉得|同意|不同意|想|希望|要|不要|认为)|你(?:看|觉得|先|帮)|好的?[，,]|行[，,]|咱们|我们(?:先|就))",
    re.IGNORECASE,
)
"""How a person goes on below what she pasted; a reviewer may write all else."""


def pasted_lines(text: str) -> frozenset[int]:
    """The numbers, from 1, of the lines that were not typed."""
    lines = text.split("\n")
    handed = _handed(text, lines)
    kept = [(number, line) for number, line in enumerate(lines, 1) if number not in handed]
    if _is_shaped("\n".join(line for _, line in kept)):
        return frozenset(range(1, len(lines) + 1))
    pasted = set(handed)
    fenced = False
    for number, line in kept:
        mark = _FENCE.match(line) is not None
        if fenced or mark:
            pasted.add(number)
        fenced ^= mark
    return frozenset(pasted)


def _handed(text: str, lines: list[str]) -> frozenset[int]:
    """The numbers of the lines that are another's by what is said of them."""
    end = _begins(text, lines)
    last = next((number for number in range(end - 1, -1, -1) if lines[number].strip()), 0)
    heading = max((number for number, line in enumerate(lines) if _HEADING.match(line)), default=0)
    handed = set(range(end, len(lines)))
    others = False
    for number, line in enumerate(lines[:end]):
        if others and number > heading and not lines[number - 1].strip() and _IS_HERS.match(line):
            others = False
        if others or is_anothers(line):
            handed.add(number)
        if not others and (number < last or end < len(lines)):
            others = _hands_on(line) or (not _follows(lines, number) and _GOT.search(line) is not None)
            others = others or (_follows(lines, number) and is_introduction(line))
    return frozenset(number + 1 for number in handed)


def _follows(lines: list[str], number: int) -> bool:
    """Whether a line stands right below another."""
    return number + 1 < len(lines) and bool(lines[number + 1].strip())


def _begins(text: str, lines: list[str]) -> int:
    """How many lines stand before a mail or a talk, which goes on to the end."""
    found = [len(lines)]
    headers = list(_MAIL.finditer(text))
    if len(headers) > 1:
        found.append(text.count("\n", 0, headers[0].start()))
    if wrote := _WROTE.search(text):
        found.append(text.count("\n", 0, wrote.start()))
    speakers = list(_SPEAKER.finditer(text))
    names = [match[1].lower() for match in speakers]
    if len(names) > 1 and (len(set(names)) < len(names) or not _TALKERS.isdisjoint(names)):
        found.append(text.count("\n", 0, speakers[0].start()))
    return min(found)


def _hands_on(line: str) -> bool:
    """Whether a line says that what follows it is somebody else's, or a piece to look at."""
    line = line.strip()
    if len(line) > 300 or not _COLON.search(line):
        return False
    last = re.split(r"(?<=[.!?。！？])\s*", _COLON.sub("", line))[-1]
    if _NOT_HERS.search(last) or is_own(last):
        return False
    if names_source(last):
        return True
    return _LEADS_EN.search(last) is not None or _LEADS_ZH.search(last) is not None


def _is_shaped(text: str) -> bool:
    """Whether a text is longer, or set in another way, than a person types."""
    if len(text) > LONGEST_TYPED or _STRONG.search(text) or len(_BOLD_LABEL.findall(text)) > 1:
        return True
    signs = sum(sign.search(text) is not None for sign in _WEAK)
    return signs + (len(_BOLD.findall(text)) > 2) + (len(text) > _LONG) > 1
