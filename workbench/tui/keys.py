"""The keys, as one table: bindings, footer, palette and help all come from it.

Ids are stable: ``[app] keymap`` in the configuration maps an id to another key. ``ctrl+a``,
``ctrl+b`` and ``ctrl+space`` stay free for the terminal multiplexer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType

Where = Literal["main", "list", "history", "package", "settle", "launch", "request", "found"]


@dataclass(frozen=True)
class Key:
    """One thing a person can do by key."""

    id: str
    key: str
    action: str
    label: str
    """One or two words for the footer."""
    tooltip: str
    where: Where = "main"
    built: bool = True
    """False: the key is known, and says that this version does not have it yet."""
    acts: bool = False
    """Whether it changes the workspace: refused under ``--read-only``."""
    show: str = ""
    """How the key is written for people; the key itself where empty."""

    @property
    def shown(self) -> str:
        """The key as people read it."""
        return self.show or self.key.split(",")[0]


KEYS: tuple[Key, ...] = (
    Key("pane.task", "1", "pane('task')", "task", "Go to the task card"),
    Key("pane.history", "2", "pane('history')", "history", "Go to the history and the message under it"),
    Key("pane.facts", "3", "pane('facts')", "facts", "Go to the facts"),
    Key("pane.packages", "4", "pane('packages')", "packages", "Go to the handoff packages"),
    Key("pane.next", "tab", "next_pane(1)", "next pane", "Go to the next pane"),
    Key("pane.previous", "shift+tab", "next_pane(-1)", "previous pane", "Go to the pane before"),
    Key("filter", "slash", "filter", "filter", "Show only the rows that hold these words", show="/"),
    Key("filter.next", "n", "find(1)", "next hit", "Go to the next row that holds the words"),
    Key("filter.previous", "N", "find(-1)", "hit before", "Go to the row before that holds the words"),
    Key("context", "C", "context", "context", "Show what is in the model's context now, or all messages"),
    Key("back", "escape", "back", "back", "Clear marks and filter, leave the message, undo the zoom", show="esc"),
    Key("trim", "t", "trim", "trim", "Drop, summarise or externalise the marked messages", acts=True),
    Key("settle", "s", "settle", "settle", "Settle a proposal: confirm, edit, reject", acts=True),
    Key("found", "i", "found", "found", "What was found in the sessions: keep, edit or refuse it"),
    Key("hand", "H", "hand_off", "hand off", "Hand the task to another agent", acts=True),
    Key("edit", "e", "edit", "edit", "Edit the fact under the cursor, or the task", acts=True),
    Key("new", "plus", "new", "new", "Make a task, a fact or a constraint", acts=True, show="+"),
    Key("undo", "u", "undo", "undo", "Take back the last change; says what, before it does", acts=True),
    Key("timeline", "L", "timeline", "timeline", "What happened to this fact or task, and back to any of it"),
    Key("saw", "m", "saw", "what it saw", "What the model saw: the request that this message belongs to"),
    Key("sessions", "S", "sessions", "sessions", "Agents' sessions of this repository: attach one and follow it"),
    Key("switch", "w", "switch_task", "switch", "Switch to another task of this workspace"),
    Key("zoom", "z", "zoom", "zoom", "Give the whole screen to this pane, or back"),
    Key("copy", "y", "copy", "copy", "Copy what is under the cursor"),
    Key("rescan", "R", "rescan", "rescan", "Read everything again now"),
    Key("mouse", "M", "mouse", "mouse", "Release or take the mouse"),
    Key("theme", "f8", "next_theme", "theme", "Change to the next theme"),
    Key("review", "V", "unbuilt('review')", "review", "Have another agent review the work", built=False),
    Key("change", "c", "unbuilt('change')", "change", "Tell every worktree that something changed", built=False),
    Key("resume", "r", "unbuilt('resume')", "resume", "Resume this session, trimmed or whole", built=False),
    Key("goto", "o", "unbuilt('goto')", "agent's pane", "Go to the agent's own pane", built=False),
    Key("trace", "T", "unbuilt('trace')", "trace", "What the receiver really got and read", built=False),
    Key("help", "question_mark", "help", "help", "Every key", show="?"),
    Key("quit", "q", "quit_app", "quit", "Leave the workbench"),
    Key("list.down", "j,down", "move(1)", "down", "One row down", where="list"),
    Key("list.up", "k,up", "move(-1)", "up", "One row up", where="list"),
    Key("list.top", "g,home", "top", "top", "To the first row", where="list"),
    Key("list.bottom", "G,end", "bottom", "bottom", "To the last row", where="list"),
    Key("list.half_down", "ctrl+d,pagedown", "half(1)", "half a page down", "Half a page down", where="list"),
    Key("list.half_up", "ctrl+u,pageup", "half(-1)", "half a page up", "Half a page up", where="list"),
    Key("list.open", "enter", "open", "open", "Open what is under the cursor", where="list"),
    Key("mark", "space", "mark", "mark", "Mark this message for trimming", where="history"),
    Key("mark.range", "v", "range", "range", "Mark from here to where you go", where="history"),
    Key("mark.suggested", "a", "suggested", "suggested", "Mark all that may go by the rules", where="history"),
    Key("package.toggle", "space", "take", "take/leave", "Take this row in, or leave it out", where="package"),
    Key("package.pin", "p", "pin", "pin", "Pin this row: it is always in", where="package"),
    Key("package.more", "plus,equals_sign", "budget(1)", "budget", "A larger budget", where="package", show="+"),
    Key("package.less", "minus,underscore", "budget(-1)", "smaller", "A smaller budget", where="package", show="-"),
    Key("package.settle", "s", "settle", "settle", "Settle the fact of this row in place", where="package"),
    Key("package.tab", "tab", "tab(1)", "rows/prompt", "Rows, prompt as it will be sent, freshness", where="package"),
    Key("package.back", "shift+tab", "tab(-1)", "before", "The view before", where="package"),
    Key("settle.edit", "e", "edit", "edit and confirm", "Change the value, then confirm it", where="settle"),
    Key("settle.reject", "x", "reject", "reject", "Reject the proposal, with a reason", where="settle"),
    Key(
        "settle.both",
        "b",
        "both",
        "keep both",
        "Let it hold for this task alone, the old for all others",
        where="settle",
    ),
    Key(
        "settle.same",
        "equals_sign",
        "same",
        "same key",
        "It is the same key as another: join them",
        where="settle",
        show="=",
    ),
    Key("settle.message", "m", "message", "its message", "Go to the message it was said in", where="settle"),
    Key("found.edit", "e", "edit", "edit and keep", "Change the value or the wording, then keep it", where="found"),
    Key("found.refuse", "x", "refuse", "refuse", "It is not so: it is not asked again", where="found"),
    Key("found.skip", "space", "skip", "skip", "Leave it as it is, and ask no more", where="found"),
    Key("found.settle", "s", "settle", "side by side", "Old and new side by side, with their sources", where="found"),
    Key("found.both", "b", "both", "keep both", "The new value for this task alone, the old for others", where="found"),
    Key("found.message", "m", "message", "its message", "Go to the message it was said in", where="found"),
    Key("found.undo", "u", "undo", "undo", "Take back the last change", where="found"),
    Key(
        "found.search",
        "slash",
        "search",
        "search",
        "Show only the lines that hold these words",
        where="found",
        show="/",
    ),
    Key("launch.recompile", "r", "recompile", "recompile", "Compile again, from what holds now", where="launch"),
    Key("launch.override", "o", "override", "override", "Hand over in spite of the differences", where="launch"),
    Key("launch.settle", "s", "settle", "settle", "Settle what is challenged, here", where="launch"),
    Key(
        "request.before",
        "left_square_bracket,left",
        "step(-1)",
        "request before",
        "The request before this one",
        where="request",
        show="[",
    ),
    Key(
        "request.after",
        "right_square_bracket,right",
        "step(1)",
        "next request",
        "The request after this one",
        where="request",
        show="]",
    ),
    Key("launch.reject", "x", "reject", "reject", "Reject this package, with a reason", where="launch"),
)

BY_ID: Mapping[str, Key] = {key.id: key for key in KEYS}

FOOTERS: Mapping[str, tuple[str, ...]] = {
    "task": ("edit", "new", "switch", "settle", "hand", "help", "quit"),
    "history": ("mark", "mark.suggested", "trim", "filter", "hand", "help", "quit"),
    "facts": ("settle", "found", "edit", "filter", "hand", "help", "quit"),
    "packages": ("list.open", "hand", "undo", "zoom", "help", "quit"),
}
"""What the footer offers in each pane: four to seven keys."""

SPARE: Mapping[str, int] = {
    "zoom": 3,
    "new": 2,
    "filter": 2,
    "mark.suggested": 2,
    "list.open": 1,
    "undo": 1,
    "switch": 1,
}
"""Which of them are left off first where they do not all fit; help last."""


def bindings(where: Where, *, without: Collection[str] = ()) -> list[BindingType]:
    """The bindings of one place, with the ids that a keymap names."""
    return [
        Binding(key.key, key.action, key.label, show=False, key_display=key.shown, tooltip=key.tooltip, id=key.id)
        for key in KEYS
        if key.where == where and key.id not in without
    ]


def shown_keys(keymap: Mapping[str, str]) -> dict[str, str]:
    """How each key is written for people, the person's own keymap applied."""
    return {key.id: keymap.get(key.id, key.shown).split(",")[0] for key in KEYS}


def unknown_ids(keymap: Iterable[str]) -> list[str]:
    """Ids of a keymap that name no key."""
    return sorted(name for name in keymap if name not in BY_ID)
