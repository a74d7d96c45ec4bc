"""Contracts from loosely written fields: what is unknown, impossible or outside the worktree is refused."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec

from workbench.domain.contract import Contract
from workbench.domain.ids import new_id
from workbench.domain.variables import impossible
from workbench.errors import UsageError

_DRAFT_KEYS = ("title", "slug", "constraints", *(f.encode_name for f in msgspec.structs.fields(Contract)))


def contract_from(fields: Mapping[str, Any], find: Callable[[str], str], base: Contract | None = None) -> Contract:
    """A contract from loosely written fields, over ``base`` where given.

    Args:
        fields: The fields of :class:`Contract`; acceptance items may be plain texts, commands one line.
        find: The id of the task that a word names.
        base: What is not given stays as it is here.

    Raises:
        UsageError: An unknown field, a wrong type, or a declaration that no value fits.
        NotFoundError: A reference to a task that is not there.
    """
    for key in fields:
        if key not in _DRAFT_KEYS:
            raise UsageError(f"unknown field {key!r} of a contract", "known: " + ", ".join(_DRAFT_KEYS))
    document = msgspec.to_builtins(base) if base is not None else {}
    document.update(fields)
    document["acceptance"] = [_acceptance(row) for row in document.get("acceptance", ())]
    document["commands"] = [_command(row) for row in document.get("commands", ())]
    document["depends_on"] = [find(str(name)) for name in document.get("depends_on", ())]
    document["inputs"] = [_input(row, find) for row in document.get("inputs", ())]
    try:
        contract = msgspec.convert(document, Contract)
    except msgspec.ValidationError as problem:
        raise UsageError(f"the contract does not fit: {problem}", "see: workbench schema print task") from None
    _refuse_unknown(document, msgspec.to_builtins(contract), "")
    before = base.variables if base is not None else {}
    for name, spec in contract.variables.items():
        if before.get(name) != spec and (wrong := impossible(spec)):
            raise UsageError(f"variable {name}: {wrong}", "see: workbench schema print task", name=name)
    for path in _paths_of(contract):
        check_path(path)
    ids = [c.id for c in contract.commands]
    for item in contract.acceptance:
        kind, _, name = item.check.partition(":")
        known = {"command": ids, "output": [o.key for o in contract.outputs]}.get(kind)
        if kind not in ("command", "output", "file", "manual") or (known is not None and name not in known):
            raise UsageError(
                f"acceptance {item.text!r} asks for the check {item.check!r}, which the contract does not have",
                "checks: command:ID, output:KEY, file:PATH, manual",
            )
    return contract


def needed(contract: Contract) -> tuple[str, ...]:
    """The ids of the tasks that one waits for: by name, or for an input."""
    return tuple(dict.fromkeys((*contract.depends_on, *(one.from_ for one in contract.inputs))))


def _refuse_unknown(given: Any, known: Any, place: str) -> None:
    """A field that is not known would be left out without a word: a minimum written as ``min`` would bound nothing.

    Raises:
        UsageError: Naming the place.
    """
    if isinstance(given, Mapping) and isinstance(known, Mapping):
        for name, value in given.items():
            here = f"{place}.{name}" if place else str(name)
            if name not in known:
                raise UsageError(f"unknown field {here!r} of a contract", "known there: " + ", ".join(known))
            _refuse_unknown(value, known[name], here)
    elif isinstance(given, list) and isinstance(known, list | tuple):
        for number, (one, other) in enumerate(zip(given, known, strict=False)):
            _refuse_unknown(one, other, f"{place}[{number}]")


def _paths_of(contract: Contract) -> Iterator[str]:
    yield from contract.targets
    yield from (output.path for output in contract.outputs if output.path is not None)
    yield from (item.check.partition(":")[2] for item in contract.acceptance if item.check.startswith("file:"))


def check_path(path: str) -> None:
    """A path of a contract lies beneath the worktree, whichever that is (``workspace.md``, gate ``beneath``)."""
    pure = PurePosixPath(path)
    outside = pure.is_absolute() or ".." in pure.parts or path.startswith("~")
    if not path.strip() or outside or "\\" in path or not path.isprintable():
        raise UsageError(
            f"path {path!r} does not lie beneath the worktree",
            "write it relative to the worktree, like src/",
        )


def _acceptance(row: Any) -> Any:
    if isinstance(row, str):
        return {"id": new_id(), "text": row}
    return {"id": new_id(), **row} if isinstance(row, Mapping) else row


def _input(row: Any, find: Callable[[str], str]) -> Any:
    """An input, with the task that gives it by id: a slug may come to mean another task."""
    if isinstance(row, Mapping) and isinstance(row.get("from"), str):
        return {**row, "from": find(row["from"])}
    return row


def _command(row: Any) -> Any:
    if isinstance(row, Mapping) and isinstance(row.get("run"), str):
        try:
            return {**row, "run": shlex.split(row["run"])}
        except ValueError as problem:
            raise UsageError(f"command {row['run']!r}: {problem}", "quote it as a shell would want it") from None
    return row
