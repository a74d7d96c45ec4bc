"""Open the app over the data of the tests, to look at it: ``python -m tests.tui.look``."""

from __future__ import annotations

import sys
import time

from tests.tui import data
from tests.tui.fake import FakeDesk, UndoPlan
from tests.tui.hostile import SHORT, poison
from workbench.resources import data_folder
from workbench.tui.app import WorkbenchApp
from workbench.tui.run import run_guarded
from workbench.tui.settings import Settings


class Stuck(FakeDesk):
    """Another process writes and does not stop."""

    def undo_plan(self) -> UndoPlan | None:
        """Wait for it."""
        time.sleep(60)
        return super().undo_plan()


def app(view: str = "full", theme: str = "workbench-dark") -> WorkbenchApp:
    views = {"full": data.view, "empty": data.empty_view, "hostile": lambda: poison(data.view(), "".join(SHORT))}
    desk = Stuck(data.view()) if view == "stuck" else FakeDesk(views[view]())
    return WorkbenchApp(desk, Settings(theme=theme, theme_folders=(data_folder("themes"),)), lambda: data.NOW)


if __name__ == "__main__":
    sys.exit(run_guarded(app(*sys.argv[1:])))
