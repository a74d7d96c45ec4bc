"""The context compiler: from records and history to a small package with sources, state and evidence.

A pure function: no files, no clock, no randomness, no locale. The same records, request and
tokenizer give the same bytes, in whatever order the records come.
"""

from workbench.compiler.acceptance import Standing, open_failures, standings
from workbench.compiler.compilation import Compilation, compile_package
from workbench.compiler.envelope import Blocked, Compiled, RequiredItem, Row
from workbench.compiler.material import EvidenceItem, HistoryItem, Material, Target, WorktreeState
from workbench.compiler.request import Request
from workbench.compiler.staleness import Staleness

__all__ = [
    "Blocked",
    "Compilation",
    "Compiled",
    "EvidenceItem",
    "HistoryItem",
    "Material",
    "Request",
    "RequiredItem",
    "Row",
    "Staleness",
    "Standing",
    "Target",
    "WorktreeState",
    "compile_package",
    "open_failures",
    "standings",
]
