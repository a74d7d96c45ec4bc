"""A call that holds its arguments as their text says what one does that holds them."""

from __future__ import annotations

import msgspec
import pytest

from workbench.domain.message import AS_ARGUED, ToolCall, WrittenCall


@pytest.mark.parametrize(
    ("args", "held", "command"),
    [
        ({"command": "make test", "timeout": 5}, AS_ARGUED, "make test"),
        ({"cmd": "make", "command": "not this"}, AS_ARGUED, "make"),
        ({"bash_id": "b1"}, "sleep 9", "sleep 9"),
        ({"file_path": "/srv/a.py", "lines": [1, 2.5, None, {"é": "\u2028"}]}, None, None),
        (["a", "b"], None, None),
    ],
)
def test_it_says_the_same(args: object, held: str | None, command: str | None) -> None:
    text = msgspec.json.encode(args).decode()
    call = WrittenCall("c1", "Bash", "execute", text, held, ("/srv/a.py",))
    plain = ToolCall("c1", "Bash", "execute", args, command, ("/srv/a.py",))
    assert (call.args, call.command, call.paths) == (args, command, plain.paths)
    assert call.plain() == plain == plain.plain()
    assert msgspec.to_builtins(call.plain())["args"] == args
