"""Every command of the contract has a help page, and says so when it is not built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from workbench.cli import parser

if TYPE_CHECKING:
    from tests.cli.conftest import Run

CONTRACT: dict[str, str] = {
    "home": "",
    "status": "--all",
    "line": "",
    "demo": "NAME --dir --live --speed --no-open",
    "init": "PATH",
    "forget": "",
    "merge": "PATH",
    "settle": "RECORD FIELD --keep --take --why",
    "doctor": "--fix --bundle",
    "gc": "",
    "purge": "RECORD --secret --why",
    "schema print": "RECORD",
    "task new": "TITLE --objective --slug --target --output --command --accept --constraint --var --input --depends "
    "--role --skill --file --carry",
    "task list": "",
    "task show": "TASK",
    "task use": "TASK",
    "task revise": "TASK",
    "task cancel": "TASK --why",
    "task complete": "TASK --why",
    "task draft": "--session",
    "task take": "TASK --session",
    "attempt list": "",
    "attempt show": "",
    "attempt end": "",
    "state show": "TASK",
    "state update": "TASK --done --pending --start --set --declare --scratch --expect --file",
    "state import": "TASK --file",
    "fact propose": "KEY VALUE --kind --statement --scope --source --quote --reason",
    "fact import": "F --settle",
    "fact list": "--all --key --task",
    "fact show": "",
    "fact history": "KEY",
    "fact confirm": "ID --expect",
    "fact reject": "ID --why",
    "fact retract": "ID --why",
    "fact edit": "ID",
    "fact alias": "KEY CANONICAL",
    "note write": "KEY JSON --kind --source",
    "note read": "KEY",
    "note list": "",
    "note query": "WORDS",
    "session list": "--all",
    "session attach": "TASK S",
    "session follow": "TASK",
    "history show": "TASK MESSAGES",
    "history suggest": "TASK",
    "history drop": "TASK MESSAGES --why",
    "history summarise": "TASK MESSAGES --why",
    "history externalise": "TASK MESSAGES --why",
    "history pin": "TASK MESSAGES --why",
    "history class": "TASK MESSAGES --why",
    "history restore": "TASK MESSAGES --why",
    "history view": "TASK --request --compacted --turns --budget --note",
    "history check": "TASK",
    "history export": "TASK --to --resume",
    "extract": "FILE --session --model --propose --jsonl",
    "artifact add": "TASK KEY PATH --kind",
    "artifact list": "",
    "artifact show": "",
    "artifact read": "ID --version",
    "artifact bind": "TASK KEY ID@V",
    "evidence run": "TASK CMD",
    "evidence list": "TASK",
    "evidence add": "TASK --kind --file",
    "evidence confirm": "TASK ITEM",
    "compile": "TASK --to --budget --strategy --tokenizer --language --pin --without --mode --prompt-only",
    "compare": "TASK",
    "handoff prepare": "TASK --to --budget",
    "handoff list": "",
    "handoff show": "P",
    "handoff check": "P",
    "handoff confirm": "P --launch --headless --inline --override",
    "handoff reject": "P --why",
    "handoff cancel": "P",
    "handoff resume": "P",
    "handoff quick": "--to --session --launch",
    "review start": "TASK --to",
    "review findings": "P",
    "review send": "P --only",
    "consult ask": "TASK --to TEXT",
    "consult answer": "P",
    "back": "TASK --to",
    "change": "TEXT",
    "report": "TASK --file",
    "verify": "TASK --run",
    "trace": "TASK|ATTEMPT",
    "stats": "--by",
    "search": "WORDS --task --everywhere",
    "log": "RECORD",
    "rollback": "RECORD --to --task --at",
    "undo": "",
    "agents": "",
    "connect": "AGENT --dry-run",
    "disconnect": "AGENT",
    "trust": "PATH",
    "trust list": "",
    "trust revoke": "",
    "mcp": "--tools",
    "serve": "--port --write",
    "sync": "",
    "eval": "DATA",
}
"""The commands of the contract, with the words and options that their help has to name."""
NOT_BUILT = (
    "home", "line", "compare", "back", "change", "report", "verify",
    "trace", "stats", "connect", "disconnect", "mcp", "serve", "sync", "eval", "task draft",
    "history check", "history export", "artifact bind",
    "handoff quick", "review start", "review findings", "review send",
    "consult ask", "consult answer",
)  # fmt: skip


@pytest.mark.parametrize("words", CONTRACT)
def test_the_help_page_says_what_how_and_how_it_ends(run: Run, words: str) -> None:
    for argv in (("--help", *words.split()), (*words.split(), "-h")):
        page = run(*argv)
        assert (page.code, page.err) == (0, "")
        assert page.out.startswith(f"usage: workbench {words}")
        assert "exit codes:\n  0 done" in page.out
        assert "--json" in page.out
        for named in CONTRACT[words].split():
            assert named in page.out
    assert ("not built yet: it says so" in page.out) == (words in NOT_BUILT)


def test_the_tables_hold_the_contract_and_nothing_else() -> None:
    known = {c.words for noun in parser.NOUNS if noun != "_exec" for c in parser.commands_of(noun).values()}
    assert known == set(CONTRACT)
    commands = [c for noun in parser.NOUNS for c in parser.commands_of(noun).values()]
    assert {c.words for c in commands if not c.run} == set(NOT_BUILT)
    assert all(c.summary and c.about.endswith(".") for c in commands)


@pytest.mark.parametrize("words", NOT_BUILT)
def test_what_is_not_built_says_so_whatever_it_is_given(run: Run, words: str) -> None:
    result = run(*words.split(), "--json", "x")
    assert result.code == 2
    assert result.out == ""
    assert result.error["code"] == "not_built"
    assert words in result.error["message"]


@pytest.mark.parametrize(
    "argv",
    [
        ("status", "--all"),
        ("search", "x", "--everywhere"),
        ("demo", "--live"),
        ("handoff", "confirm", "p", "--launch", "acp"),
    ],
)
def test_what_is_not_built_of_a_built_command_says_so(run: Run, argv: tuple[str, ...]) -> None:
    result = run(*argv, "--json")
    assert (result.code, result.error["code"]) == (2, "not_built")


def test_the_front_page_lists_every_first_word(run: Run) -> None:
    page = run("--help")
    assert page.code == 0
    for noun in {words.split()[0] for words in CONTRACT}:
        assert f"\n  {noun} " in page.out
    assert "_exec" not in page.out


def test_a_first_word_alone_names_what_may_follow(run: Run) -> None:
    page = run("fact", "--help")
    assert page.code == 0
    assert "workbench fact confirm" in page.out
    assert "workbench fact import" in page.out
    bare = run("fact")
    assert bare.code == 2
    assert "propose" in bare.err


def test_a_word_that_is_nearly_right_is_met_halfway(run: Run) -> None:
    assert "workbench fact propose" in run("fact", "propse", "k", "v").err
    assert "workbench status" in run("statu").err
    wrong = run("fact", "propose", "k", "v", "--knid", "fact")
    assert wrong.code == 2
    assert "workbench fact propose --help" in wrong.err
