"""Forms of the task state: counts and open items always, variables, details and finished items with room."""

from __future__ import annotations

from workbench.compiler.acceptance import standings
from workbench.compiler.collect_contested import Contested
from workbench.compiler.collect_task import Variable, open_items
from workbench.compiler.layout import Form, Group, Piece, either, entry, flat, marked, when
from workbench.compiler.material import Material
from workbench.compiler.qualify import Judged
from workbench.compiler.request import Request
from workbench.compiler.staleness import Staleness, folded
from workbench.compiler.values import value_line
from workbench.compiler.words import Words
from workbench.domain.task import DoneItem, PendingItem, Task


class StateShaper:
    """Makes the forms of state, variables, open and done items."""

    def __init__(self, material: Material, request: Request, words: Words, staleness: Staleness) -> None:
        self.material = material
        self.request = request
        self.words = words
        self.staleness = staleness
        self._done = {folded(item.text).strip() for item in material.task.state.done}
        self._place = {item.id: f"{n:06d}" for n, item in enumerate(open_items(material.task))}

    def _entry(self, text: str) -> str:
        return entry(text, self.staleness.stated(text), self.words)

    def state(self, judged: Judged) -> list[Form]:
        """The counts with every open item, one variable, one contested field, or one done item."""
        record = judged.candidate.record
        if isinstance(record, Task):
            return [Form("body", tuple(self._whole(record)))]
        if isinstance(record, Variable):
            return self._variable(record, settle=judged.handling == "settle")
        if isinstance(record, Contested):
            return self._contested(record)
        assert isinstance(record, DoneItem)
        return self._done_item(record)

    def _whole(self, task: Task) -> list[Piece]:
        words, state = self.words, task.state
        items = open_items(task)
        verified = sum(1 for item in state.done if item.known == "verified")
        date = f" {when(state.updated_at, words)}" if state.updated_at else ""
        counts = words["state"].format(date=date, done=len(state.done), verified=verified, open=len(items))
        if not (state.updated_at or state.done or items):
            counts = words["state.never"]
        pieces = [Piece("holds", ("0", "0"), entry(counts))]
        pieces += [self._open(item, detailed=False) for item in items]
        pieces.append(Piece("last", ("0",), self._entry(words["next"].format(text=self._next(task)))))
        waiting = [i for i in task.contract.acceptance if i.required]
        if all(standings(self.material)[i.id].verdict == "passed" for i in waiting):
            pieces.append(Piece("last", ("1",), entry(words["unmet.none"]), long_only=True))
        return pieces

    def _next(self, task: Task) -> str:
        items = open_items(task)
        if items:
            return self._marked(items[0], flat(items[0].text, 300))
        known = standings(self.material)
        unmet = [i for i in task.contract.acceptance if i.required and known[i.id].verdict != "passed"]
        if not unmet:
            return self.words["none"]
        text = flat(unmet[0].text, 300)
        return marked(self.material.task, f"contract.acceptance.{unmet[0].id}", text, self.words)

    def _marked(self, item: PendingItem, text: str) -> str:
        return marked(self.material.task, f"state.pending.{item.id}", text, self.words)

    def _interrupted(self, item: PendingItem) -> bool:
        """Begun, and its attempt has ended or ends with this handoff."""
        if item.started is None:
            return False
        running = self.material.running
        return self.request.mode == "handoff" or running is None or item.started.attempt != running.id

    def _open(self, item: PendingItem, *, detailed: bool) -> Piece:
        words, order = self.words, self._place[item.id]
        begun = item.started
        if begun is not None:
            name = "interrupted" if self._interrupted(item) else "in_progress"
            text = words[name].format(text=item.text, when=when(begun.at, words), by=begun.by)
        else:
            text = words["open"].format(text=item.text)
        said = [self._marked(item, text)]
        if item.qualifiers:
            said.append(words["open.qualifiers"].format(list=words["list"].join(item.qualifiers)))
        if folded(item.text).strip() in self._done:
            said.append(words["open.unclear"])
        if detailed and item.paths:
            said.append(words["open.paths"].format(list=words["list"].join(item.paths)))
        if detailed and item.priority != 2:
            said.append(words["open.priority"].format(number=item.priority))
        section = "failed" if begun is not None and self._interrupted(item) else "holds"
        return Piece(section, ("0", "1", order), self._entry(words["join"].join(said)), slot=f"open:{item.id}")

    def open_item(self, judged: Judged) -> list[Form]:
        """The same line with its details, in place of the plain one."""
        item = judged.candidate.record
        assert isinstance(item, PendingItem)
        return [Form("body", (self._open(item, detailed=True),))]

    def _contested(self, field: Contested) -> list[Form]:
        """What each copy says, side by side."""

        def form(name: str, limit: int) -> Form:
            text = either(field.name, field.values, limit, self.words)
            return Form(name, (Piece("settle", ("", field.name), self._entry(text)),))

        return [form("excerpt", 200), form("body", 4096)]

    def _variable(self, variable: Variable, *, settle: bool) -> list[Form]:
        words = self.words
        declared = self.material.task.contract.variables.get(variable.name)
        unit = f" {declared.unit}" if declared and declared.unit else ""

        def form(name: str, limit: int) -> Form:
            text = words["variable"].format(name=variable.name, value=flat(value_line(variable.value), limit) + unit)
            if settle:
                said = words["settle.variable"].format(variable=text, when=when(variable.set_at, words))
                return Form(name, (Piece("settle", (folded(variable.name), "0"), entry(said)),))
            return Form(name, (Piece("holds", ("0", "2", variable.name), self._entry(text)),))

        return [form("excerpt", 300), form("body", 4096)]

    def _done_item(self, item: DoneItem) -> list[Form]:
        words = self.words
        verified = item.known == "verified"
        group = Group(item.known, words["verified" if verified else "as_reported"])
        text = words["done"].format(text=item.text)
        said = f"{text} ({when(item.at, words)})" if item.at else text
        order = ("0" if verified else "1", "0", item.at, item.id)
        return [
            Form("excerpt", (Piece("finished", order, self._entry(text), (group,)),)),
            Form("body", (Piece("finished", order, self._entry(said), (group,)),)),
        ]
