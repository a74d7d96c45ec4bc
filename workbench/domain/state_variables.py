"""The variables of a state while a delta is applied to it."""

from __future__ import annotations

import re

from workbench.domain.contract import VariableSpec
from workbench.domain.delta import Conflict, Hand, Outcome
from workbench.domain.fact import same_value, value_text
from workbench.domain.record import Json, Stamp
from workbench.domain.task import TaskState
from workbench.domain.variables import TYPES, nearest, problem
from workbench.errors import UsageError
from workbench.text import one_line


class VariableEditor:
    """Declares, sets and unsets variables; what changed since ``base`` becomes a conflict."""

    def __init__(self, state: TaskState, hand: Hand, base: TaskState | None, out: Outcome) -> None:
        self.values = dict(state.variables)
        self.stamps = dict(state.variables_set)
        self._before = state
        self._base = base
        self._hand = hand
        self._declared = out.variables
        self._out = out

    def declare(self, name: str, spec: str | VariableSpec) -> None:
        """Type a name; the declaration asks nothing of anybody."""
        if isinstance(spec, str):
            if spec not in TYPES:
                raise UsageError(f"variable {name}: {spec!r} is no type", "types: " + ", ".join(TYPES))
            spec = VariableSpec(type=spec)  # type: ignore[arg-type]
        if not re.fullmatch(r"[^\s=:]{1,100}", name) or not name.isprintable():
            raise UsageError(f"{name!r} is no name for a variable", "no blanks, '=' or ':', at most 100 characters")
        known = self._declared.get(name)
        if known is not None and known != spec:
            if known.type == spec.type and spec == VariableSpec(type=spec.type):
                self._out.said.append(f"variable {name} is declared already")
                return
            raise UsageError(
                f"variable {name} is declared already, as {known.type}", "a person changes it: workbench task revise"
            )
        if known is None:
            self._declared[name] = spec
            self._out.applied.append(f"declared {name}: {spec.type}")

    def set(self, name: str, value: Json) -> None:
        """Give a declared variable a value that fits it."""
        spec = self._declared.get(name)
        if spec is None:
            near = nearest(name, self._declared)
            hint = f"declared: {', '.join(near)}; or type it with --declare {name}:TYPE"
            raise UsageError(
                f"variable {name!r} is not declared",
                hint if near else f"type it with --declare {name}:TYPE",
                name=name,
                candidates=list(near),
            )
        try:
            wrong = problem(spec, value)
        except re.error as broken:
            raise UsageError(f"variable {name}: its declared pattern is none ({broken})") from None
        if wrong:
            raise UsageError(f"variable {name} {wrong}", "see what is declared: workbench task show @", name=name)
        value = self._hand.keep_large(name, value)
        if name in self.values and same_value(self.values[name], value):
            self._out.said.append(f"{name} has this value already")
        elif not self._conflict(name, value):
            self.values[name] = value
            self.stamps[name] = Stamp(by=self._hand.by, at=self._hand.at)
            self._out.applied.append(f"set {name} = {one_line(value_text(value), 80)}")

    def unset(self, name: str) -> None:
        """Take a value away; the declaration stays."""
        if name not in self.values:
            self._out.said.append(f"{name} is not set")
        elif not self._conflict(name, None):
            del self.values[name]
            self.stamps.pop(name, None)
            self._out.applied.append(f"unset {name}")

    def _conflict(self, name: str, wanted: Json) -> bool:
        if self._base is None:
            return False
        seen, now = self._base.variables.get(name), self._before.variables.get(name)
        if (name in self._base.variables) == (name in self._before.variables) and same_value(seen, now):
            return False
        self._out.conflicts.append(Conflict(f"variable {name}", seen, now, wanted))
        return True
