"""``workbench artifact``: what was produced, by version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call, damage
from workbench.cli.output import Answer, Block, Span, table
from workbench.cli.spec import TASK, Command, option, word

if TYPE_CHECKING:
    from workbench.domain.artifact import Artifact
    from workbench.services.produced import SeenVersion

_KEYS = "artifacts[]{id,key,kind,versions[]}"
COMMANDS = (
    Command(
        "artifact add",
        "record something that was produced",
        "Records a version of an artifact: content hash, size, path, attempt and worktree.",
        (
            TASK,
            word("KEY", "its key"),
            word("PATH", "the file, relative to the worktree"),
            option("--kind", value="K", help="what kind of thing it is", default="file"),
        ),
        exits=("3 no such task, or no such file", "5 the path leads out of the worktree"),
        keys=_KEYS,
        run="artifact:add",
    ),
    Command(
        "artifact list",
        "all artifacts",
        "Prints every artifact with its versions, and the files that sessions of the current task wrote: one version "
        "a writing, with the message that shows it, by the hash of its content where that is known.",
        keys=_KEYS,
        run="artifact:listing",
    ),
    Command(
        "artifact show",
        "one artifact",
        "Prints an artifact with its versions and bindings; of a file that a session wrote, the writings.",
        (word("ID", "an artifact, by unique id prefix"),),
        exits=("3 no such artifact",),
        keys=_KEYS,
        run="artifact:show",
    ),
    Command(
        "artifact read",
        "the content of an artifact",
        "Prints the content of the version that the package bound, and says if there is a newer one. It records "
        "that it was read: the one read command that writes.",
        (
            word("ID", "an artifact, by unique id prefix; a key is refused with the id bound to it"),
            option("--version", value="V", help="another version", number=True),
        ),
        exits=("3 no such artifact or version", "5 the content is not here any more"),
        keys=_KEYS,
        run="artifact:read",
    ),
)


def add(call: Call) -> Answer:
    """Record a version."""
    from workbench.services import artifacts, tasks

    context = call.context()
    task = tasks.resolve(context, call.args.task)
    return _answer(artifacts.add(context, task, call.args.key, call.args.path, call.args.kind))


def listing(call: Call) -> Answer:
    """All of them."""
    from workbench.services import artifacts, produced
    from workbench.services.shapes import builtins, seen_artifact_json

    context = call.context(read_only=True)
    found = artifacts.listing(context)
    seen = produced.of_current(context)
    rows: list[list[str | Span]] = [
        [Span(a.id, "bold"), a.key, a.kind, f"{len(a.versions)} versions", _newest(a)] for a in found
    ]
    rows += [[Span(a.id, "bold"), a.key, a.kind, f"{len(a.versions)} versions", _written(a.versions[-1])] for a in seen]
    document = {"artifacts": [*(builtins(a) for a in found), *(seen_artifact_json(a) for a in seen)]}
    return damage(context, document, table(rows) or ["no artifact yet"])


def show(call: Call) -> Answer:
    """One of them."""
    from workbench.services import artifacts, produced
    from workbench.services.shapes import seen_artifact_json

    context = call.context(read_only=True)
    seen = produced.named(context, call.args.id)
    if seen is None:
        return _answer(artifacts.find(context, call.args.id))
    lines: list[Any] = [[Span(seen.id, "bold"), f"  {seen.key}  {seen.kind}, written in sessions"]]
    lines += [f"  {one.number}  {one.at}  {_written(one)}  {one.source}" for one in seen.versions]
    return Answer({"artifacts": [seen_artifact_json(seen)]}, lines)


def read(call: Call) -> Answer:
    """The content of a version."""
    from workbench.services import artifacts, produced
    from workbench.services.shapes import builtins, seen_artifact_json

    context = call.context()
    seen = produced.named(context, call.args.id)
    if seen is not None:
        version, data = produced.read(seen, call.args.version)
        text = data.decode("utf-8", "replace")
        shown = {"artifacts": [seen_artifact_json(seen)], "version": version.number, "content": text}
        return Answer(shown, [Block(text)], notes=_newer(version.number, seen.versions[-1].number))
    reading = artifacts.read(context, call.args.id, call.args.version)
    text = reading.content.decode("utf-8", "replace")
    document = {"artifacts": [builtins(reading.artifact)], "version": reading.version.number, "content": text}
    return Answer(document, [Block(text)], notes=_newer(reading.version.number, reading.newest))


def _newer(number: int, newest: int) -> list[str]:
    return [f"version {number}; there is a newer one: {newest}"] if newest > number else []


def _written(version: SeenVersion) -> str:
    """What is known of a writing."""
    how = version.sha256[:12] if version.sha256 is not None else "only the edit is known"
    size = f", {version.size:,} bytes" if version.size is not None else ""
    return f"{version.op} by {version.by}, {how}{size}"


def _newest(artifact: Artifact) -> str:
    newest = max(artifact.versions, key=lambda v: v.number, default=None)
    return f"{newest.path or newest.sha256[:12]}, {newest.size:,} bytes" if newest else "no version yet"


def _answer(artifact: Artifact) -> Answer:
    from workbench.services.shapes import builtins

    document: dict[str, Any] = {"artifacts": [builtins(artifact)]}
    lines: list[Any] = [[Span(artifact.id, "bold"), f"  {artifact.key}  {artifact.kind}"]]
    for version in artifact.versions:
        where = version.path or "no path"
        lines.append(f"  {version.number}  {version.made.at}  {version.size:,} bytes  {where}  {version.sha256[:12]}")
    lines += [f"  bound to {b.key} of task {b.task}: version {b.version}" for b in artifact.bindings]
    return Answer(document, lines)
