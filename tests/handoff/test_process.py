"""Whether a launched program is there: by its number, its beginning, and its state."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.handoff.process import born, lives


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only /proc tells a program's state")
def test_a_program_that_nobody_has_asked_after_has_ended_all_the_same() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        began = born(child.pid)
        assert began
        assert lives(child.pid, began)
        assert not lives(child.pid, "1")
        assert child.stdin is not None
        child.stdin.close()
        while Path(f"/proc/{child.pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z":
            pass
        assert not lives(child.pid, began)
        assert not lives(child.pid)
        assert born(child.pid) == ""


def test_another_process_that_got_the_number_is_not_the_program() -> None:
    own = os.getpid()
    began = born(own)
    assert lives(own, began)
    assert lives(own)
    if not began:
        pytest.skip("this system does not say when a process began")
    assert not lives(own, f"{int(began) - 1}")
