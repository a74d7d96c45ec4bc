"""Reading the two configuration files and the environment into one :class:`Config`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.config.dirs import user_dirs
from workbench.config.model import REVIEW_AFTER, AgentConfig, BudgetConfig, Config, ModelConfig, WatchConfig, frozen_map
from workbench.domain.ids import ALPHABET, LENGTH
from workbench.domain.note import Guideline, Role
from workbench.errors import DamagedError, StorageError, UsageError, WorkbenchError

USER_FILE = "config.toml"
WORKSPACE_FILE = "workspace.toml"
SIZE_LIMIT = 1 << 20
"""Bytes; a larger configuration file is a mistake."""


class Layer(NamedTuple):
    """The values of one source, checked."""

    origin: str
    values: Mapping[str, Any]


def load_config(workspace_root: Path | None, env: Mapping[str, str], *, lenient: bool = False) -> Config:
    """The settings in force; environment > user > workspace > default.

    Args:
        workspace_root: The ``.workbench`` folder, or None where there is no workspace.
        env: The environment (``WORKBENCH_USER``, ``WORKBENCH_THEME``, ``WORKBENCH_BUDGET``,
            ``WORKBENCH_MODEL_BASE_URL``, ``WORKBENCH_MODEL`` and the user's folders).
        lenient: For whoever only looks: a file that cannot be read is a warning, and its defaults hold.

    Raises:
        UsageError: The user's file is not TOML; file, line and column are named.
        DamagedError: The workspace's file is not TOML.
    """
    warnings: list[str] = []
    layers = [_environment(env, warnings)]
    files = [(user_dirs(env).config / USER_FILE, False)]
    if workspace_root is not None:
        files.append((workspace_root / WORKSPACE_FILE, True))
    for path, workspace in files:
        try:
            layers.append(_layer(path, workspace, warnings))
        except WorkbenchError as problem:
            if not lenient:
                raise
            warnings.append(f"{problem.message}; nothing of this file is used until that is mended")
    return _combine(layers, warnings)


def _environment(env: Mapping[str, str], warnings: list[str]) -> Layer:
    values: dict[str, Any] = {}
    if env.get("WORKBENCH_USER"):
        values["user"] = {"name": env["WORKBENCH_USER"]}
    if env.get("WORKBENCH_THEME"):
        values["app"] = {"theme": env["WORKBENCH_THEME"]}
    names = {"base_url": "WORKBENCH_MODEL_BASE_URL", "model": "WORKBENCH_MODEL"}
    if model := {key: env[name] for key, name in names.items() if env.get(name)}:
        values["model"] = model
    budget = env.get("WORKBENCH_BUDGET")
    if budget and re.fullmatch("[0-9]{1,15}", budget) and int(budget) > 0:
        values["budget"] = {"tokens": int(budget)}
    elif budget:
        warnings.append(f"WORKBENCH_BUDGET: {budget!r} is not a number of tokens; it is ignored")
    return Layer("environment", values)


def _layer(path: Path, workspace: bool, warnings: list[str]) -> Layer:
    origin = "workspace" if workspace else "user"
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Layer(origin, {})
    except OSError as problem:
        raise StorageError(f"{path}: {problem.strerror}") from None
    kind: type[WorkbenchError] = DamagedError if workspace else UsageError
    if len(data) > SIZE_LIMIT:
        raise kind(f"{path} is larger than {SIZE_LIMIT} bytes", "a configuration file is a few lines long")
    # Most people have no configuration: its table of keys is read only where there is something to check.
    from workbench.config.settings import check

    text, document = _parse(path, data, kind)
    found = check(document, text, path, workspace=workspace)
    warnings.extend(found.warnings)
    return Layer(origin, found.values)


def _parse(path: Path, data: bytes, kind: type[WorkbenchError]) -> tuple[str, dict[str, Any]]:
    """The text (LF only) and the document of a TOML file, or the error that names the place."""
    import tomllib

    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        column = problem.start - data.rfind(b"\n", 0, problem.start)
        raise _broken(kind, path, "not UTF-8", line, column) from None
    try:
        return text, tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as problem:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(problem))
        if place:
            line, column = int(place[1]), int(place[2])
        else:
            line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
        said = re.sub(r" \(at .*\)$", "", str(problem)) or "it is nested too deeply"
        raise _broken(kind, path, said, line, column) from None


def _broken(kind: type[WorkbenchError], path: Path, said: str, line: int, column: int) -> WorkbenchError:
    hint = "correct the file, or move it away" if kind is DamagedError else "correct the file"
    return kind(f"{path}:{line}:{column}: {said}", hint, file=str(path), line=line, column=column)


def _first(layers: list[Layer], section: str, key: str, default: Any) -> Any:
    """The value of the first layer that has one."""
    for layer in layers:
        value = layer.values.get(section, {}).get(key)
        if value is not None:
            return value
    return default


def _merged(layers: list[Layer], section: str, key: str | None = None) -> dict[str, Any]:
    """A table merged key by key, earlier layers first."""
    result: dict[str, Any] = {}
    for layer in reversed(layers):
        table = layer.values.get(section, {})
        result.update(table if key is None else table.get(key, {}))
    return result


def _combine(layers: list[Layer], warnings: list[str]) -> Config:
    def get(section: str, key: str, default: Any = None) -> Any:
        return _first(layers, section, key, default)

    plain = BudgetConfig()
    return Config(
        user_name=get("user", "name"),
        theme=get("app", "theme", ""),
        keymap=frozen_map(_merged(layers, "app", "keymap")),
        mouse=get("app", "mouse", True),
        bell=get("app", "bell", False),
        agents=frozen_map(_agents(layers)),
        budget=BudgetConfig(
            tokens=get("budget", "tokens", plain.tokens),
            share=float(get("budget", "share", plain.share)),
            margin=float(get("budget", "margin", plain.margin)),
            reserves=frozen_map(_merged(layers, "budget", "reserves")),
        ),
        review_after=frozen_map({**REVIEW_AFTER, **_merged(layers, "facts", "review_after")}),
        allow_verified_over_reported=get("facts", "allow_verified_over_reported", False),
        watch=WatchConfig(
            ignore=tuple(get("watch", "ignore", ())), poll=get("watch", "poll"), step=get("watch", "step", 8)
        ),
        model=_model(layers),
        roles=frozen_map(_roles(layers)),
        guidelines=_guidelines(layers),
        extraction_language=get("extraction", "language"),
        extraction_markers=tuple(get("extraction", "markers", ())),
        secrets_extra=tuple(get("secrets", "extra", ())),
        secrets_hosts=tuple(get("secrets", "hosts", ())),
        records_per_minute=get("limits", "records_per_minute"),
        bytes_per_minute=get("limits", "bytes_per_minute"),
        warnings=tuple(warnings),
    )


def _agents(layers: list[Layer]) -> dict[str, AgentConfig]:
    names = dict.fromkeys(name for layer in layers for name in layer.values.get("agents", {}))
    result: dict[str, AgentConfig] = {}
    for name in names:
        table: dict[str, Any] = {}
        for layer in reversed(layers):
            table.update(layer.values.get("agents", {}).get(name, {}))
        command = table.pop("command", None)
        result[name] = AgentConfig(command=tuple(command) if command else None, **table)
    return result


def _model(layers: list[Layer]) -> ModelConfig:
    table = _merged(layers, "model")
    command = table.pop("command", None)
    return ModelConfig(command=tuple(command) if command else None, **table)


def _roles(layers: list[Layer]) -> dict[str, Role]:
    tables = _merged(layers, "roles")
    return {name: Role(id=_stable_id("role", name), name=name, **_tuples(table)) for name, table in tables.items()}


def _guidelines(layers: list[Layer]) -> tuple[Guideline, ...]:
    found: dict[str, Guideline] = {}
    for layer in layers:
        for row in layer.values.get("guidelines", ()):
            scope = row.get("scope", "workspace")
            line = Guideline(
                id=_stable_id("guideline", scope, row["text"]), text=row["text"], scope=scope, origin=layer.origin
            )
            found.setdefault(line.id, line)
    return tuple(found.values())


def _stable_id(*parts: str) -> str:
    """An id that is the same on every machine: packages that hold the record must be, too."""
    digest = hashlib.sha256("\x00".join(parts).encode()).digest()
    return "".join(ALPHABET[byte & 31] for byte in digest[:LENGTH])


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
