"""What a start loads and does before the panes are painted, and what waits until then."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from tests.tui.seeing import says, until
from workbench.errors import NotFoundError
from workbench.services.context import Context, open_context
from workbench.services.workspaces import init
from workbench.tui.app import WorkbenchApp
from workbench.tui.late_desk import LateDesk
from workbench.tui.settings import settings_of

if TYPE_CHECKING:
    from workbench.tui.desk import Desk

_START = """
import sys
import workbench.cli.run, workbench.cli.parser, workbench.cli.call, workbench.cli.commands.app
import workbench.services.entrance, workbench.tui.app, workbench.tui.late_desk
print(*sys.modules)
"""
_LATER = (
    "workbench.agents",
    "workbench.compiler",
    "workbench.extraction",
    "workbench.handoff",
    "workbench.services.context",
    "workbench.services.view",
    "workbench.sessions",
    "workbench.store.workspace",
    "workbench.tui.desk",
    "workbench.tui.flows.",
    "workbench.tui.palette",
    "workbench.tui.screens.ask",
    "watchfiles",
)


def test_nothing_is_loaded_before_the_first_picture_that_it_does_not_show() -> None:
    done = subprocess.run([sys.executable, "-c", _START], capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.split() if name.startswith(_LATER)] == []


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    init(tmp_path, env=os.environ)
    yield open_context(tmp_path, env=os.environ, app=True)
    gc.unfreeze()  # a start sets aside all that is loaded by then


def test_the_workspace_is_opened_once_and_not_before_it_is_asked_for(context: Context) -> None:
    opened: list[Context] = []

    def furnish() -> Context:
        opened.append(context)
        return context

    desk = LateDesk(furnish)
    assert desk.refusal() == ""
    assert opened == []
    asking = [threading.Thread(target=desk.open) for _ in range(4)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert len(opened) == 1
    assert desk.watched() == desk.open().watched()


async def test_the_app_over_a_late_desk_shows_the_workspace_and_why_acting_is_refused(context: Context) -> None:
    only_read = open_context(context.location.base, env=os.environ, app=True, read_only=True)
    app = WorkbenchApp(cast("Desk", LateDesk(lambda: only_read)), settings_of(only_read), only_read.now)
    async with app.run_test(size=(180, 50), notifications=True) as pilot:
        await until(pilot, lambda: app.view is not None)
        await pilot.press("plus")
        await says(pilot, "--read-only")


async def test_a_workspace_that_cannot_be_opened_is_said(context: Context) -> None:
    def furnish() -> Context:
        raise NotFoundError("the workspace went away", "workbench init makes one")

    app = WorkbenchApp(cast("Desk", LateDesk(furnish)), settings_of(context), context.now)
    async with app.run_test(size=(180, 50), notifications=True) as pilot:
        await says(pilot, "the workspace went away")
        await pilot.press("q")
