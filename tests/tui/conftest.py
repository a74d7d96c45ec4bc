"""The app over a desk in memory, at any size."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.tui import data
from tests.tui.fake import FakeDesk
from tests.tui.seeing import until
from workbench.resources import data_folder
from workbench.tui.app import WorkbenchApp
from workbench.tui.settings import Settings

Opened = AbstractAsyncContextManager[tuple[WorkbenchApp, Pilot[int]]]


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def opened() -> Callable[..., Opened]:
    """Open the app over a desk and wait for its first view."""

    @asynccontextmanager
    async def opening(
        desk: FakeDesk, size: tuple[int, int] = (180, 50), settings: Settings | None = None
    ) -> AsyncIterator[tuple[WorkbenchApp, Pilot[int]]]:
        settings = settings or Settings(theme_folders=(data_folder("themes"),))
        app = WorkbenchApp(desk, settings, lambda: data.NOW)
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: app.view is not None)
            await pilot.pause()
            yield app, pilot

    return opening
