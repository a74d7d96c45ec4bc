"""Workspaces and sessions of any size, made up here and always the same."""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.domain.fact import Act, Fact, Source
from workbench.domain.ids import new_id
from workbench.domain.record import Stamp
from workbench.domain.task import Task
from workbench.services.context import Context, open_context
from workbench.services.workspaces import init
from workbench.store.workspace import Workspace

AT = "2026-03-01T10:00:00Z"
_ALL = "ba ce di fo gu ha je ki lo mu na pe qui ra so tu va we xi yo zu bra cle dri flo gru"
_SYLLABLES = tuple(_ALL.split())
_HAN = "用户修改主题颜色测试构建失败数据文件接口配置缓存请求错误日志版本发布部署节点集群价格订单库存图片音频"


def vocabulary(size: int = 4000) -> list[str]:
    """Made-up words; the first ones are used most."""
    chance = random.Random(7)
    words = {"".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(size)}
    return sorted(words, key=lambda word: (len(word), word))


class Texts:
    """Texts of made-up words, some of them Chinese."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._words = vocabulary()
        self._weights = [1 / (n + 3) for n in range(len(self._words))]

    def text(self, words: int) -> str:
        """So many words, in lines."""
        found = self._chance.choices(self._words, self._weights, k=words)
        return "\n".join(" ".join(found[n : n + 12]) for n in range(0, words, 12))

    def chinese(self, characters: int) -> str:
        """So many characters."""
        return "".join(self._chance.choices(_HAN, k=characters))


@contextmanager
def home() -> Iterator[Path]:
    """A folder that is home and holds everything; it is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="workbench-bench-"))
    before = dict(os.environ)
    os.environ |= {"HOME": str(folder / "home"), "WORKBENCH_HUMAN_SHELL": "1", "TZ": "UTC"}
    for name in [name for name in os.environ if name.startswith(("XDG_", "WORKBENCH_WORKSPACE"))]:
        del os.environ[name]
    (folder / "home").mkdir()
    try:
        yield folder
    finally:
        os.environ.clear()
        os.environ |= before
        shutil.rmtree(folder, ignore_errors=True)


def workspace(folder: Path, facts: int = 0, tasks: int = 0) -> Context:
    """A workspace in ``folder`` with so many records, opened for writing."""
    folder.mkdir(parents=True, exist_ok=True)
    init(folder, env=os.environ)
    ctx = context(folder)
    put_facts(ctx.workspace, facts)
    with ctx.workspace.transaction("human:dev", "make tasks") as tx:
        for number in range(tasks):
            made = Stamp(by="human:dev", at=AT)
            tx.put(Task(id=new_id(), slug=f"task-{number}", title=f"Task {number}", created=made))
    return ctx


def context(folder: Path, *, read_only: bool = False) -> Context:
    """What a use case is given."""
    return open_context(folder, env=os.environ, read_only=read_only)


def fact(number: int, prefix: str = "area") -> Fact:
    """A fact that holds, of a key of its own."""
    return Fact(
        id=new_id(),
        key=f"{prefix}{number % 97}.item{number}",
        value=f"value {number}",
        statement=f"Item {number} of the area is {number}.",
        sources=(Source(type="person", by="human:dev", at=AT),),
        acts=(Act(act="accepted", by="human:dev", at=AT),),
        observed_at=AT,
    )


def put_facts(workspace: Workspace, number: int, prefix: str = "area") -> None:
    """Put facts into a workspace, many in a transaction."""
    for start in range(0, number, 500):
        with workspace.transaction("human:dev", "make facts") as tx:
            for n in range(start, min(number, start + 500)):
                tx.put(fact(n, prefix))


def moment(number: int) -> str:
    """A time for every number, later for larger ones."""
    days, seconds = divmod(number, 86400)
    return f"2026-03-{1 + days % 28:02}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"


SESSION = "5e551017-0000-4000-8000-000000000001"


def session_lines(cwd: Path, messages: int, words: int = 90, start: int = 0) -> Iterator[bytes]:
    """A conversation with calls and results, a line a record, from number ``start``; some of it is Chinese."""
    texts = Texts(1 + start)
    last = f"{start - 1:08x}-0000-4000-8000-000000000000" if start else None
    for number in range(start, start + messages):
        step = number % 5
        uuid = f"{number:08x}-0000-4000-8000-000000000000"
        record: dict[str, object] = {
            "parentUuid": last,
            "isSidechain": False,
            "uuid": uuid,
            "timestamp": moment(number),
            "cwd": str(cwd),
            "sessionId": SESSION,
            "version": "2.1.0",
            "gitBranch": "main",
        }
        body = texts.text(words)
        if step == 0:
            record |= {"type": "user", "message": {"role": "user", "content": body}}
        elif step == 2:
            made = {
                "type": "tool_use",
                "id": f"c{number}",
                "name": "Bash",
                "input": {"command": f"grep -n {body[:40]}"},
            }
            record |= {"type": "assistant", "message": _answer(number, made)}
        elif step == 3:
            block = {"type": "tool_result", "tool_use_id": f"c{number - 1}", "content": body}
            twin = {"stdout": body, "stderr": "", "interrupted": False, "isImage": False}
            record |= {"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": twin}
        else:
            said = body + ("\n" + texts.chinese(60) if step == 4 else "")
            record |= {"type": "assistant", "message": _answer(number, {"type": "text", "text": said})}
        last = uuid
        yield json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _answer(number: int, block: dict[str, object]) -> dict[str, object]:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": number,
        "cache_creation_input_tokens": 20,
        "output_tokens": 90,
    }
    return {"id": f"msg_{number}", "role": "assistant", "model": "claude-x", "content": [block], "usage": usage}


def session_file(path: Path, messages: int, words: int = 90) -> Path:
    """A session file with so many records."""
    with path.open("wb") as file:
        file.writelines(session_lines(path.parent, messages, words))
    return path
