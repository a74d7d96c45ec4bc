"""What a person looked at is what is stored: a package that changed meanwhile is not handed over unseen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench.errors import RefusedError
from workbench.services.context import open_context
from workbench.services.demo import copy_demo
from workbench.tui.desk import Choice
from workbench.tui.services_desk import ServicesDesk


def test_a_file_that_changes_between_looking_and_confirming_stops_the_package(tmp_path: Path):
    folder = copy_demo(None, tmp_path / "demo", os.environ)
    desk = ServicesDesk(open_context(folder, env=os.environ, app=True))
    view = desk.view()
    assert view.task is not None
    task, choice = view.task.task.id, Choice("codex")
    desk.draft(task, choice)
    (folder / "src/theme.css").write_text("/* another */\n")
    with pytest.raises(RefusedError, match="changed while you looked"):
        desk.prepare(task, choice)
    assert desk.draft(task, choice).prompt
    stored = desk.prepare(task, choice)
    assert desk.stored(stored).prompt == desk.draft(task, choice).prompt
