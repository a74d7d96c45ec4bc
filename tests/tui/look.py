"""Open the app over the data of the tests, to look at it: ``python -m tests.tui.look``."""

from __future__ import annotations

import sys

from tests.tui import data
from tests.tui.fake import FakeDesk
from workbench.resources import data_folder
from workbench.tui.app import WorkbenchApp
from workbench.tui.settings import Settings


def app(view: str = "full", theme: str = "workbench-dark") -> WorkbenchApp:
    desk = FakeDesk(data.empty_view() if view == "empty" else None)
    return WorkbenchApp(desk, Settings(theme=theme, theme_folders=(data_folder("themes"),)), lambda: data.NOW)


if __name__ == "__main__":
    app(*sys.argv[1:]).run()
