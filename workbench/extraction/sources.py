"""Telling that a line names somebody or something else as the source of what follows it: ``CodeRabbit found:``."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from workbench.extraction.speakers import speakers

_TOOLS = (
    r"code ?rabbit|sonar(?:qube|cloud)?|dependabot|renovate|greptile|bugbot|cursor|devin|aider|cline|"
    r"windsurf|qwen|kimi|"
    r"llama|mistral|eslint|semgrep|codeql|snyk|"
    r"gpt-?[\w.]+|(?:the )?(?:linter|compiler|type ?checker|ci|build|scanner|"
    r"profiler|logs?|tests?|server|console|terminal|pipeline)"
)
_SOMEBODY = (
    r"(?:an?|the|my|our|another|other|second|different|external|review(?:er|ing)?|sub-?|code|security|qa|"
    r"ai|support|design|"
    r"product|legal|ops|platform|customer)"
    r"(?:[ -](?:other|second|review(?:er|ing)?|code|security|external|ai|qa))*[ -]?"
    r"(?:agents?|sessions?|models?|llms?|reviewers?|bots?|ais?|assistants?|auditors?|testers?|"
    r"dev(?:eloper)?s?|engineers?|"
    r"teams?|persons?|people|colleagues?|friends?|clients?|customers?|users?|guys?|lead|boss|manager|"
    r"designers?|architects?)"
)
_DID = (
    r"(?:re-?)?(?:review(?:ed|s)|found|finds|flag(?:ged|s)|thinks?|thought|notic(?:ed|es)|not(?:ed|es)|rais(?:ed|es)|"
    r"comment(?:ed|s)|came back|comes back|left|gave|gives|identif(?:ied|ies)|point(?:ed|s) out|"
    r"recommend(?:ed|s)|wants?|"
    r"wanted|complain(?:ed|s)|warn(?:ed|s)|object(?:ed|s)|believes?|feels?|claim(?:ed|s)|audit(?:ed|s)|check(?:ed|s)|"
    r"analy[sz]ed|conclud(?:ed|es)|put together|drafted|came up with|listed|lists|explain(?:ed|s)|"
    r"decided|request(?:ed|s)|"
    r"requires?|prints?|printed|shows?|showed|outputs?|shared|says?|said|wrote|writes|states?|repl(?:ies|"
    r"ied)|answer(?:ed|s)|"
    r"suggest(?:ed|s)|propos(?:ed|es)|report(?:ed|s)|sent|sends|posted|told|tells)"
)
_PIECE = (
    r"(?:reviews?|feedback|comments?|reports?|plans?|specs?|specifications?|e-?mails?|mails?|messages?|"
    r"notes?|logs?|outputs?|"
    r"findings?|opinions?|views?|take|suggestions?|answers?|repl(?:y|ies)|responses?|verdict|analysis|"
    r"remarks?|thoughts?|"
    r"concerns?|assessments?|audits?|summar(?:y|ies)|recommendations?|minutes|transcripts?|tickets?|issues?|results?|"
    r"proposals?|objections?)"
)
_OWN = re.compile(
    r"\b(?:my|our own|some|few|couple|several|two|three|four|quick|small|more|last|final|additional|general)\b[^:]*$"
    r"|^(?:please|also|rules?)\b|^(?:\w+ )?(?:i|we)(?: \w+)? (?:want|decided|found|checked|noted|think)\b",
    re.IGNORECASE,
)
_BELONGS = re.compile(
    # A piece from somebody, one of a kind that others write, or the work that is handed over.
    rf"\b{_PIECE} (?:from|by|of|via) \S[^:]*$"
    rf"|^(?:\w+,? )?from (?:the |my |our |a |an )?[\w.@' -]{{2,40}}$"
    rf"|\b(?:review(?:er)?s?(?:['’]s)?|pr|mr|pull request|code review|meeting|release|call|support|qa|"
    rf"audit|customer|client|"
    rf"user|team|stack|error|build|test|ci|slack|jira|github) {_PIECE}$"
    rf"|\b(?:implement|execute|follow|carry out|work through|work on|do|apply|build|use|start on|proceed with)\b.*"
    rf"\b(?:this|following|below|attached|next|the)\b.*\b(?:plan|spec|specification|design|prd|rfc|"
    rf"proposal|ticket|issue|"
    rf"review|feedback|comments?|findings?|suggestions?|notes)(?: below)?$"
    rf"|\b(?:address|fix|resolve|handle|incorporate|respond to)\b.*\b(?:review|feedback|comments?|"
    rf"findings?|report|remarks?|"
    rf"suggestions?)(?: below)?$"
    rf"|^(?:here(?:['’]s| is| are) )?(?:the |this |a )?(?:following |full |new |final |current |updated )?"
    rf"(?:reviews?|reports?|plan|specs?|specification|design doc|e-?mail|logs?|outputs?|findings?|transcript|ticket)$",
    re.IGNORECASE,
)
_INLINE = re.compile(
    r"^(?:[-*•] )?(?:\*\*)?(?:(?:code |pr |mr )?review(?:er)?(?:['’]s)? (?:comment|feedback|note|finding|remark)s?"
    r"|(?:feedback|comments?|reviews?|notes?|message|mail|report) (?:from|by) [^:：]{2,40})(?:\*\*)?\s?[:：]\s*\S"
    r"|^(?:代码)?(?:审查|评审|review) ?(?:意见|评论|反馈|结论|结果)\s?[:：]\s*\S",
    re.IGNORECASE,
)
_NO_NAME = (
    r"(?:What|When|How|Where|Why|Who|This|That|These|Those|There|Here|We|You|They|It|If|As|So|And|But|The|Everything|"
    r"Nothing|All|Each|Every|Always|Never|Please|Tests?|Users?)\b"
)
_HERS_TOO = re.compile(r"(?:\bbut\b|\bI\b(?!/)|，但|不过|[。，,]我)")
_LONGEST = 60
"""Characters of a line that introduces what stands right below it without a colon."""


class Sources(NamedTuple):
    """Patterns with the names of agents, and of people by what they are."""

    told: re.Pattern[str]
    agent: re.Pattern[str]


@cache
def sources() -> Sources:
    """The patterns, compiled once; names of people and programs come from ``rules/speakers.toml``."""
    known = sorted(speakers().others, key=len, reverse=True)
    latin = "|".join(re.escape(name) for name in known if name.isascii())
    han = "|".join(re.escape(name) for name in known if not name.isascii())
    names = (
        rf"(?:(?<![\w-])(?:(?:the |my |our |a )?(?:{latin}|{_TOOLS})|{_SOMEBODY}|"
        rf"(?-i:(?!{_NO_NAME})[A-Z][a-z]+(?: [A-Z][a-z]+)?))(?![\w-]))"
    )
    zh = (
        rf"(?:(?:另一个|另外一个|别的|其他|第二个|另一位|某个|一位|一个)?\s?(?:{han}|agent|AI|模型|代理|"
        rf"机器人|会话|大模型|"
        rf"评审员|审查员|"
        rf"审查者|评审者|测试同学|测试人员|用户|产品|运维|安全团队|[老小][\u3400-\u9fff]|{latin}|{_TOOLS}))"
    )
    did = (
        "(?:审查|评审|审核|检查|看|review|反馈|意见|评论|建议|认为|觉得|"
        "发现|指出|提出|提|说|要求|回复|答复|报告|总结|点评|结论|分析|"
        "想法|看法|计划|方案|日志|输出|纪要|笔记|邮件|消息|写|发)"
    )
    told = (
        rf"^[^:]{{0,60}}?{names}(?:['’]s? (?:[\w-]+ ){{0,3}}(?:{_PIECE}|requirements?|requests?|wishes)\b|"
        rf"(?:,? (?:which|who|and (?:it|they|he|she)))?(?: \w+){{0,2}} {_DID}\b)"
        rf"|(?:^|[，,。：: ]|[是的按看照]){zh}"
        rf"(?:们|那边|刚才?|刚刚|也|又|给出?|\s)*(?:对[^，。]{{1,12}})?的?\s?{did}"
        r"[^，。；：]{0,14}$"
        r"|(?:代码)?(?:审查|评审|review)\s?(?:意见|结果|报告|评论|反馈|结论|记录)"
        r"|(?:会议|评审)(?:纪要|记录)|(?:反馈|意见|消息|邮件)来自"
        r"|(?:执行|实现|实施|按照?|落实|完成)[^，。]{0,6}(?:以下|下面|下列|这个|这份|如下)[^，。]{0,6}"
        r"(?:计划|方案|规格|设计|文档|需求)"
        r"|^(?:计划|方案|规格|日志|输出|报告|邮件|实施计划|设计文档)(?:如下)?$"
        r"|^(?:来自|转自) ?\S+$"
    )
    agent = rf"^(?:{latin}|{_TOOLS}|(?:another|the other) (?:agent|session|model|reviewer)) {_DID}\b.*\w"
    return Sources(re.compile(told, re.IGNORECASE), re.compile(agent, re.IGNORECASE))


def is_own(lead: str) -> bool:
    """Whether the words before a colon say that what follows is the speaker's: ``Some comments``, ``My notes``."""
    return (
        re.fullmatch(rf"(?:here are )?(?:my|some|a few|our)(?: \w+)? {_PIECE}", lead.strip(), re.IGNORECASE) is not None
    )


def names_source(lead: str) -> bool:
    """Whether the words before a colon name somebody or something else, whose words follow."""
    lead = lead.strip("*_# \t")
    if _OWN.search(lead):
        return False
    return _BELONGS.search(lead) is not None or sources().told.search(lead) is not None


def is_introduction(line: str) -> bool:
    """Whether a line without a colon stands above another's words: ``GPT thinks``, ``同事的意见``."""
    line = line.strip()
    if len(line) > _LONGEST or line.endswith((".", "!", "?", "。", "！", "？", ",", "，", ":", "：")):
        return False
    ends = re.search(rf"(?:\b(?:{_PIECE}|{_DID})|意见|反馈|建议|评论|认为|觉得|说|发现)$", line, re.IGNORECASE)
    return ends is not None and names_source(line) and _BELONGS.search(line) is None


def is_anothers(line: str) -> bool:
    """Whether a line gives another's words by itself: ``Review comment: …``, ``GPT thinks we …``."""
    line = line.strip()
    if _INLINE.search(line):
        return True
    return not line.endswith((":", "：")) and sources().agent.search(line) is not None and not _HERS_TOO.search(line)
