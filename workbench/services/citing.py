"""Evidence that sessions show by themselves, and that something cites: it is stored, with what it rests on.

It is derived anew at every look for as long as its session file is there; what a record rests on must outlive it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.compiler import EvidenceItem
from workbench.domain.evidence import UNKNOWN, Evidence, FileHash
from workbench.domain.task import Task
from workbench.errors import NotFoundError
from workbench.services import kept
from workbench.services.context import Context
from workbench.services.evidence import find, hashed, rests_on, words_of
from workbench.services.material import gather
from workbench.services.sessions import attached
from workbench.store.records import Records
from workbench.store.transaction import Transaction


def cited(ctx: Context, task: Task, names: Iterable[str]) -> tuple[Evidence, ...]:
    """What of this evidence is stored nowhere and a session shows, as it is to be stored.

    With a command go the hashes of the files that it rests on, as they are now.

    Raises:
        NotFoundError: A name means several.
    """
    lines = ctx.workspace.look("evidence")
    unknown = [name for name in names if not _stored(lines, task, name)]
    seen = gather(ctx, ctx.workspace.load(), task).seen if unknown else ()
    found: dict[str, Evidence] = {}
    for name in unknown:
        fitting = [item for item in seen if item.evidence.id.startswith(name.strip().lower() or "-")]
        if len(fitting) > 1:
            ids = [item.evidence.id for item in fitting]
            raise NotFoundError(f"{name!r} fits {len(ids)} pieces of evidence", "give more of the id", candidates=ids)
        for item in fitting:
            found[item.evidence.id] = _with_files(ctx, task, item)
    return tuple(found.values())


def _stored(records: Records, task: Task, name: str) -> bool:
    try:
        return find(records, task, name) is not None
    except NotFoundError:
        return False


def _with_files(ctx: Context, task: Task, item: EvidenceItem) -> Evidence:
    line = item.evidence
    if line.kind != "command" or line.worktree != ctx.location.worktree_name:
        return line
    argv = line.argv or tuple(words_of(line.command))
    files = {file.path: file for file in hashed(ctx, (*rests_on(ctx, task, argv), *item.changed))}
    files |= {path: FileHash(path=path, sha256=UNKNOWN) for path in item.changed}
    return line.with_(files=tuple(files[path] for path in sorted(files)))


def keep(ctx: Context, tx: Transaction, task: Task, lines: Sequence[Evidence]) -> None:
    """Store what was cited, and copy the messages that show it, as part of a change."""
    for line in lines:
        tx.append_evidence(line)
    if lines:
        kept.keep(ctx, tx, attached(ctx, tx.records, task), [line.source for line in lines if line.source])
