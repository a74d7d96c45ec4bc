"""Forms of what the task brings along: rules, contract, inputs, worktree, question, difference."""

from __future__ import annotations

import shlex

from workbench.compiler.acceptance import standings
from workbench.compiler.collect_contested import contested
from workbench.compiler.collect_task import Input, Objective, Targets, output_line
from workbench.compiler.layout import Form, Group, Piece, clean, entry, flat, marked, stale_mark
from workbench.compiler.material import Material, WorktreeState
from workbench.compiler.qualify import Judged
from workbench.compiler.staleness import Staleness
from workbench.compiler.words import Words
from workbench.domain.contract import AcceptanceItem, CommandSpec, OutputSpec
from workbench.domain.note import Guideline, Role

_DIRTY_SHOWN = 60


class TaskShaper:
    """Makes the forms of contract, guidelines, role, inputs, worktree, question and difference."""

    def __init__(self, material: Material, words: Words, staleness: Staleness) -> None:
        self.material = material
        self.words = words
        self.staleness = staleness
        self.standings = standings(material)

    def _entry(self, text: str) -> str:
        """A literal entry, marked where it states a value that no longer holds."""
        return entry(text, self.staleness.stated(text), self.words)

    def _one(self, section: str, order: tuple[str, ...], text: str, *groups: Group) -> list[Form]:
        return [Form("body", (Piece(section, order, self._entry(text), groups),))]

    def _marked(self, place: str, text: str) -> str:
        return marked(self.material.task, f"contract.{place}", text, self.words)

    def guideline(self, judged: Judged) -> list[Form]:
        """Literally; a file of rules by reference."""
        candidate, rule = judged.candidate, judged.candidate.record
        text = candidate.body
        if isinstance(rule, Guideline) and not text.strip():
            text = self.words["guideline.reference"].format(origin=rule.origin)
        group = Group("guidelines", self.words["guidelines"])
        return self._one("do", ("0", candidate.source_id), text, group)

    def role(self, judged: Judged) -> list[Form]:
        """Literally, in one entry."""
        role = judged.candidate.record
        assert isinstance(role, Role)
        said = [self.words["role"].format(name=role.name, text=role.responsibility)]
        for name in ("may", "must_not", "outputs"):
            values: tuple[str, ...] = getattr(role, name)
            if values:
                said.append(self.words[f"role.{name}"].format(list=self.words["list"].join(values)))
        if role.report:
            said.append(self.words["role.report"].format(text=role.report))
        return self._one("do", ("1",), self._marked("role", "\n".join(said)))

    def contract(self, judged: Judged) -> list[Form]:
        """Each thing that the contract asks, literally."""
        candidate = judged.candidate
        record = candidate.record
        if isinstance(record, Objective):
            return [Form("body", tuple(self._objective(record)))]
        if isinstance(record, Targets):
            text = self.words["targets"].format(list=self.words["list"].join(record.paths))
            return self._one("do", ("3",), self._marked("targets", text))
        if isinstance(record, AcceptanceItem):
            return [Form("body", tuple(self._acceptance(record)))]
        if isinstance(record, CommandSpec):
            line = shlex.join(record.run)
            text = self.words["command"].format(id=record.id, command=line, exit=record.exit)
            return self._one("done_when", ("1", record.id), self._marked(f"commands.{record.id}", text))
        assert isinstance(record, OutputSpec)
        text = self.words["output.promised"].format(text=output_line(record)) + _rule(record)
        return self._one("done_when", ("2", record.key), self._marked(f"outputs.{record.key}", text))

    def _objective(self, objective: Objective) -> list[Piece]:
        words = self.words
        task, running = self.material.task, self.material.running
        text = self._marked("objective", words["objective"].format(text=objective.text))
        if not task.contract.objective and not contested(task, "contract.objective"):
            text = marked(task, "title", text, words)
        pieces = [Piece("do", ("2",), self._entry(text))]
        if running is not None and running.plan_revision < task.plan_revision:
            text = words["outdated"].format(
                executor=running.executor, old=running.plan_revision, new=task.plan_revision
            )
            said = [text, *(words["revised"].format(text=line) for line in self.material.revised)]
            pieces.append(Piece("do", ("4",), self._entry("\n".join(said))))
        return pieces

    def _acceptance(self, item: AcceptanceItem) -> list[Piece]:
        words = self.words
        place = next(n for n, i in enumerate(self.material.task.contract.acceptance) if i.id == item.id)
        order, place_of = f"{place:06d}", f"acceptance.{item.id}"
        kind, _, subject = item.check.partition(":")
        how = f"acceptance.{kind}" if f"acceptance.{kind}" in words else "acceptance.manual"
        verdict = self.standings[item.id].verdict
        said = [
            self._marked(place_of, words["acceptance"].format(text=item.text, id=item.id)),
            words[how].format(subject=subject),
        ]
        if item.evidence:
            said.append(words["acceptance.evidence"].format(text=item.evidence))
        if not item.required:
            said.append(words["acceptance.optional"])
        said.append(words[f"verdict.{verdict}"])
        pieces = [Piece("done_when", ("0", order), self._entry(words["join"].join(said)))]
        if verdict != "passed" and item.required:
            group = Group("unmet", words["unmet"])
            short = self._entry(self._marked(place_of, flat(item.text, 120)))
            pieces.append(Piece("last", ("1", order), short, (group,), long_only=True))
        return pieces

    def upstream_input(self, judged: Judged) -> list[Form]:
        """A reference to the bound version, or what is missing and why."""
        found = judged.candidate.record
        assert isinstance(found, Input)
        order = ("0", found.key, judged.candidate.source_id)
        if found.artifact is None or found.version is None:
            why = self.words[f"input.{found.problem}"]
            text = self.words["input.missing"].format(key=found.key, task=found.producer, why=why)
            return self._one("read", order, self._input_marked(found, text))
        path = self.words["input.path"].format(path=found.version.path) if found.version.path else ""
        text = self.words["input"].format(
            key=found.key, task=found.producer, id=found.artifact.id, version=found.version.number, path=path
        )
        return [Form("reference", (Piece("read", order, self._entry(self._input_marked(found, text))),))]

    def _input_marked(self, found: Input, text: str) -> str:
        return self._marked(f"inputs.{found.key}", text) if found.named else text

    def workspace_state(self, judged: Judged) -> list[Form]:
        """Branch, commit and changed files; their number where there are many."""
        state, words = judged.candidate.record, self.words
        assert isinstance(state, WorktreeState)
        if state.dirty is None:
            return self._git(state, words["git.unknown"], "body")
        if not state.dirty:
            return self._git(state, words["git.clean"], "body")
        count = words["git.count"].format(number=len(state.dirty))
        shown = sorted(state.dirty)[:_DIRTY_SHOWN]
        named = words["git.files"].format(list=words["list"].join(shown))
        if len(shown) < len(state.dirty):
            named = f"{count}; {named}…"
        return self._git(state, count, "excerpt") + self._git(state, named, "body")

    def _git(self, state: WorktreeState, dirty: str, name: str) -> list[Form]:
        none = self.words["git.none"]
        text = self.words["git"].format(branch=state.branch or none, head=(state.head or none)[:12], dirty=dirty)
        return [Form(name, (Piece("read", ("1",), self._entry(flat(text, 8000))),))]

    def question(self, judged: Judged) -> list[Form]:
        """Literally."""
        return self._one("do", ("5",), self.words["question"].format(text=judged.candidate.body))

    def diff(self, judged: Judged) -> list[Form]:
        """The whole difference, or its files with the number of lines."""
        body, words = judged.candidate.body, self.words
        stale = self.staleness.stated(body)
        label = words["difference"] + (f"; {stale_mark(stale, words)}" if stale else "")
        group = Group("diff", flat(label, 400), fenced=True)
        whole = Piece("background", ("9",), words["output"] + "\n" + clean(body).strip("\n") + "\n", (group,))
        lines = [words["difference.whole"].format(size=len(body))]
        lines += [words["difference.file"].format(path=p, added=a, removed=r) for p, a, r in diff_files(body)]
        counted = Piece("background", ("9",), "".join(entry(flat(line, 300)) for line in lines), (group,))
        return [Form("reference", (counted,)), Form("body", (whole,))]


def diff_files(text: str) -> list[tuple[str, int, int]]:
    """Files of a unified difference with the lines added and removed."""
    files: list[tuple[str, int, int]] = []
    for line in text.split("\n"):
        if line.startswith("+++ "):
            files.append((line[4:].removeprefix("b/").strip(), 0, 0))
        elif files and line.startswith("+"):
            path, added, removed = files[-1]
            files[-1] = (path, added + 1, removed)
        elif files and line.startswith("-") and not line.startswith("--- "):
            path, added, removed = files[-1]
            files[-1] = (path, added, removed + 1)
    return files


def _rule(output: OutputSpec) -> str:
    """The content rule of an output, as it stands in the contract."""
    rule = output.content
    if rule is None:
        return ""
    said = [f"{name}={getattr(rule, name)}" for name in ("min_bytes", "max_bytes") if getattr(rule, name) is not None]
    said += [f"contains {text!r}" for text in rule.contains]
    said += ["json"] if rule.json else []
    return f" ({', '.join(said)})" if said else ""
