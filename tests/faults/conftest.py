"""What the tests with faults share with those of the command line."""

import pytest

from tests.cli.conftest import run as run
from workbench.store import primitives


@pytest.fixture(autouse=True)
def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are brought to disk one by one, so that the same call is the k-th each time."""
    monkeypatch.setattr(primitives, "AT_ONCE", 1)
