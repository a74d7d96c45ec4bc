"""``python -m tests.faults.killer COMMAND MUTANT FOLDER...``: kills the command at call 1, 2, 3 ... of each folder.

One process forks for each; the exit code of each child stands on a line of its own.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.faults.commands import killed_at
from tests.faults.mutants import MUTANTS
from workbench.store import primitives


def main(command: str, mutant: str, *folders: str) -> None:
    primitives.AT_ONCE = 1  # the same call is the k-th each time
    if mutant != "none":
        MUTANTS[mutant](setattr)
    for k, folder in enumerate(folders, 1):
        child = os.fork()
        if child == 0:
            killed_at(Path(folder), command, k)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
