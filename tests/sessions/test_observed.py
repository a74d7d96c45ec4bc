"""What sessions show to have happened, the same for every agent; and how command lines are understood."""

from __future__ import annotations

from pathlib import Path

import pytest
from claude_records import Script, bash, call, finished
from codex_records import Rollout, ended
from hypothesis import given
from hypothesis import strategies as st

from workbench.sessions.commands import only_looks, plain
from workbench.sessions.observed import observe
from workbench.sessions.tests_said import summary

PLAIN = [
    ("npm run build", ("npm", "run", "build"), "/w"),
    ("npm  run   build", ("npm", "run", "build"), "/w"),
    ("cd web && npm test 2>&1", ("npm", "test"), "/w/web"),
    ("cd /srv/shop && npm test", ("npm", "test"), "/srv/shop"),
    ("git commit -m 'two words'", ("git", "commit", "-m", "two words"), "/w"),
    ("python -c 'print(1)'", ("python", "-c", "print(1)"), "/w"),
    ("grep '$x' a", ("grep", "$x", "a"), "/w"),
    ("npm test | tail -3", (), "/w"),
    ("npm test > out.txt", (), "/w"),
    ("npm test || true", (), "/w"),
    ("npm test; true", (), "/w"),
    ("npm test &", (), "/w"),
    ("CI=1 npm test", (), "/w"),
    ("npm test $ARGS", (), "/w"),
    ('npm test "$ARGS"', (), "/w"),
    ("npm test *.js", (), "/w"),
    ("npm test\nrm x", (), "/w"),
    ("echo 'unclosed", (), "/w"),
    ("", (), "/w"),
]


@pytest.mark.parametrize(("command", "argv", "cwd"), PLAIN)
def test_only_a_plain_command_has_an_argument_list(command: str, argv: tuple[str, ...], cwd: str) -> None:
    found = plain(command, "/w")
    assert (found.argv, found.cwd) == (argv, cwd)


LOOKING = [
    "ls -la",
    "cd a && cat b | head -3",
    "git status --short",
    "rg 'a|b' src; pwd",
    "sed -n 1,3p a",
    "git log -3",
]
WORKING = [
    "make", "ls && make", "sed -i s/a/b/ f", "echo x > f", "find . -delete", "git commit -m x", "ls\nmake",
    "cat <<EOF\nx\nEOF", "", "'",
]  # fmt: skip


def test_looking_is_told_from_working() -> None:
    assert [command for command in LOOKING if not only_looks(command)] == []
    assert [command for command in WORKING if only_looks(command)] == []


@given(st.text(max_size=40) | st.text("ab '\"\\$|&;><()\n-=", max_size=40))
def test_no_command_line_raises(command: str) -> None:
    plain(command, "/w")
    only_looks(command)


SAID = [
    ("....F\n=== 1 failed, 4 passed in 0.12s ===\n", "1 failed, 4 passed"),
    ("\x1b[32m12 passed\x1b[0m in 1.20s\n", "12 passed"),
    ("Ran 3 tests in 0.001s\n\nFAILED (failures=1)\n", "3 tests, FAILED, failures=1"),
    ("Tests:       1 failed, 2 passed, 3 total\nTime: 1 s\n", "1 failed, 2 passed, 3 total"),
    ("      Tests  3 failed | 20 passed (23)\n", "3 failed | 20 passed"),
    ("test result: ok. 3 passed; 0 failed; 1 ignored; finished\n", "ok, 3 passed; 0 failed; 1 ignored"),
    ("  4 passing (30ms)\n  1 failing\n", "4 passing, 1 failing"),
    ("ok  \tshop/a\t0.1s\nFAIL\tshop/b\t0.2s\n", "1 packages failed, 1 passed"),
    ("# pass 3\n# fail 1\n", "3 passed, 1 failed"),
    ("all is well\n", ""),
    ("ok then\n", ""),
]


@pytest.mark.parametrize(("output", "expected"), SAID)
def test_what_an_output_says_of_its_tests(output: str, expected: str) -> None:
    assert summary(output) == expected


def test_the_same_work_is_the_same_whoever_did_it(tmp_path: Path) -> None:
    claude = Script()
    claude.prompt("go")
    claude.say("m1", bash("c1", "ls"), bash("c2", "npm test"))
    claude.result("c1", "a", error=False, twin=finished())
    claude.result("c2", "Exit code 1\n2 failed, 3 passed in 1.0s", error=True)
    claude.say("m2", call("c3", "Edit", file_path="/srv/shop/src/a.ts"))
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": ["-a", "+b", "+c"]}]
    claude.result("c3", "ok", twin={"filePath": "/srv/shop/src/a.ts", "structuredPatch": patch})
    claude.say("m3", call("c4", "TodoWrite", todos=[{"content": "fix", "status": "completed"}]))
    codex = Rollout()
    codex.prompt("go")
    codex.run("c1", "ls")
    codex.output("c1", ended(0, "a"))
    codex.run("c2", "npm test")
    codex.output("c2", ended(1, "2 failed, 3 passed in 1.0s"))
    codex.patch("c3", "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n+c\n*** End Patch\n")
    codex.output("c3", "Exit code: 0\nOutput:\nSuccess.", custom=True)
    codex.call("c4", "update_plan", plan=[{"step": "fix", "status": "completed"}])
    for log in (claude.read(tmp_path), codex.read(tmp_path)):
        seen = observe(log.messages)
        look, test = seen.runs
        assert (look.looks, look.exit_code, test.looks, test.exit_code) == (True, 0, False, 1)
        assert (test.command, test.argv, test.cwd) == ("npm test", ("npm", "test"), "/srv/shop")
        assert (test.excerpt, test.tests) == ("2 failed, 3 passed in 1.0s", "2 failed, 3 passed")
        (touched,) = seen.touched
        assert (touched.path, touched.change.added, touched.change.removed) == ("/srv/shop/src/a.ts", 2, 1)
        assert [(item.text, item.status) for item in seen.items] == [("fix", "completed")]


def test_what_did_not_run_or_has_not_ended_is_no_run(tmp_path: Path) -> None:
    session = Rollout()
    session.run("c1", "make")
    session.run("c2", "make b")
    session.output("c2", "rejected by user")
    session.run("c3", "make c")
    session.output("c3", "Wall time: 1 seconds\nProcess running with session ID 3\nOutput:\n")
    session.output("lost", ended(0))
    assert observe(session.read(tmp_path).messages).runs == ()
