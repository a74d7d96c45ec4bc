"""What the app asks of the workspace: blocking calls, each run in a thread, and the plans they return.

The app knows the workspace by this protocol alone. :class:`~workbench.tui.services_desk.ServicesDesk`
answers it from the services; tests answer it from memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from workbench.domain.fact import Fact
from workbench.domain.message import Message
from workbench.domain.package import Difference, LaunchWay
from workbench.domain.record import Claim
from workbench.domain.trimming import GuardFinding
from workbench.services.view import FactView, Step, View
from workbench.watching import Watched

if TYPE_CHECKING:
    from workbench.domain.contested import Contest
    from workbench.services.request import RequestView
    from workbench.services.reviewing import Found, Review
    from workbench.services.rollback import Plan

CutAct = Literal["drop", "summarise", "externalise"]


@dataclass(frozen=True)
class Cut:
    """What a cut would do, before it does it."""

    act: CutAct
    ids: tuple[str, ...]
    """Partners included: a call and its result go together."""
    partners: int
    """How many of them were not marked."""
    before: int
    after: int
    in_what: str
    findings: tuple[GuardFinding, ...] = ()
    package: tuple[str, int, int] | None = None
    """The next package: for which agent, its tokens now, and after the cut; None where none can be made."""
    stale: tuple[str, ...] = ()
    """For whom the pending packages are that count as stale by the cut."""

    @property
    def blocked(self) -> bool:
        """Whether nobody may do this."""
        return any(f.stops == "always" for f in self.findings)

    @property
    def needs_yes(self) -> bool:
        """Whether a person has to type yes."""
        return any(f.stops == "unless_yes" for f in self.findings)


@dataclass(frozen=True)
class Settling:
    """A proposal beside what it would supersede."""

    proposal: FactView
    active: Fact | None
    others: tuple[Fact, ...] = ()
    """Further heads, where the key is contested."""
    depends: tuple[str, ...] = ()
    """What else rests on it, one line each: tasks, packages that would go stale."""
    expect: str | None = None
    """``ID@VERSION`` of the active fact as it was seen."""
    task: str | None = None
    """The task for which alone it could hold, beside the old value for all others; None where it could not."""
    look_alikes: tuple[str, ...] = ()
    """Keys that look like another spelling of this one."""


@dataclass(frozen=True)
class ClaimShown:
    """What one of two merged copies says of a field."""

    claim: Claim
    text: str
    said: str
    """Who said it and when; empty where no log tells."""
    stands: bool


@dataclass(frozen=True)
class SessionChoice:
    """A session that an agent keeps for this workspace."""

    name: str
    """``AGENT:ID``."""
    agent: str
    title: str
    live: bool
    updated_at: str
    size: int
    worktree: str = ""
    """Name of the linked worktree that it works in; empty for the main checkout."""
    task: str = ""
    """Slug of the task that it belongs to; empty where it belongs to none."""
    here: bool = False
    """That is the task in question."""
    running: bool = False
    """It belongs to the attempt that runs."""
    offered: str = ""
    """Why it may go on from a session of the running attempt; empty where nothing tells so."""
    children: int = 0
    """Sessions of its sub-agents."""
    full: float | None = None
    """Share of the window that its last request took, where that is known."""


@dataclass(frozen=True)
class AgentChoice:
    """An agent program that could take the task."""

    name: str
    title: str
    executable: str | None
    """Where it is installed; None where it is not."""
    window: int | None
    tokenizer: str
    estimated: bool


@dataclass(frozen=True)
class PackageRow:
    """One candidate of a package: taken or not, in what form, at what price, and why."""

    id: str
    source_type: str
    title: str
    tier: str
    included: bool
    form: str | None
    tokens: int
    wanted: int
    score: int
    parts: tuple[tuple[str, int], ...] = ()
    reason: str | None = None


@dataclass(frozen=True)
class Choice:
    """How a package is to be compiled."""

    to: str
    budget: int | None = None
    """None: what the configuration gives."""
    pins: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Draft:
    """A package as it would be; nothing is stored."""

    choice: Choice
    tokens: int
    budget: int
    tokenizer: str
    estimated: bool
    window: int | None
    rows: tuple[PackageRow, ...]
    prompt: str
    snapshot: str
    blocked: str = ""
    """Why there is no package; empty where there is one."""
    package: str | None = None
    """Id of the stored package that this shows."""
    asked: int = 0
    """Tokens asked for, of which ``budget`` is left once the margin is taken off; 0 where unknown."""


@dataclass(frozen=True)
class LaunchOffer:
    """One way to start the receiver, with the exact command line."""

    way: LaunchWay
    command: str
    note: str
    why_not: str = ""
    """Why this way cannot be taken here; empty where it can."""


@dataclass(frozen=True)
class Handed:
    """What came of a confirmation."""

    package: str
    way: LaunchWay
    command: str
    """The exact command line."""
    prompt_file: Path | None
    steps: tuple[str, ...] = ()
    """What was done, in words."""
    failure: str = ""
    """Why the launch did not work; empty where it did."""
    to_copy: str = ""
    """One line to paste: it starts the receiver after looking that folder, branch and commit are still those."""
    agent: str = ""
    """The receiver, as people call it."""
    left: str = ""
    """What became of the attempt before; empty where nobody ran the task."""
    observed: bool = True
    """Whether this version reads the receiver's sessions, and so can see that it arrived."""

    @property
    def by_hand(self) -> bool:
        """Whether the person starts the receiver."""
        return self.way in ("print", "copy")


@dataclass(frozen=True)
class Written:
    """What came of something that the person wrote."""

    said: str
    settle: str = ""
    """A fact that now waits to be settled against what holds; empty where none does."""


@dataclass(frozen=True)
class UndoPlan:
    """What the next undo takes back."""

    change: str
    command: str
    by: str
    at: str
    records: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    """Newer changes that no undo takes back, and why, newest first."""


class Pulse(NamedTuple):
    """What differs whenever a view would."""

    records: str = ""
    """Whenever it would in more than sessions and files that something rests on."""
    files: str = ""


class Desk(Protocol):
    """The workspace, as the app sees it. Every method may block, and raises only ``WorkbenchError``."""

    def view(self, *, records: bool = True) -> View:
        """Everything there is to show, read now; without ``records``, only sessions changed since the last one."""

    def pulse(self, thorough: bool = False) -> Pulse:
        """What differs whenever a view would; a ``thorough`` one takes nothing from before."""

    def watched(self) -> Watched:
        """What the watcher should look at, from the last view."""

    def keep_index(self, pause: Callable[[], None]) -> None:
        """Bring the search index up to date, where this process may write; ``pause`` is called again and again."""

    def refusal(self) -> str:
        """Why acting is refused in this process; empty where it is not."""

    def resume(self) -> list[str]:
        """Bring handovers into order that a crash left in the middle; says what was done."""

    def body(self, message: Message) -> str:
        """The whole text of a message."""

    def sessions(self, task: str) -> tuple[SessionChoice, ...]:
        """Sessions that agents keep for this workspace, newest first, and how they stand to a task."""

    def attach(self, task: str, session: str) -> str:
        """Let a session belong to a task's running attempt; says what was done."""

    def join(self) -> list[str]:
        """Let sessions that go on from those of running attempts join them; a line for each that did."""

    def use_task(self, task: str) -> None:
        """Make a task the current one on this machine."""

    def suggest(self, task: str) -> frozenset[str]:
        """Messages that may go by the rules."""

    def plan_cut(self, task: str, ids: Collection[str], act: CutAct, text: str = "") -> Cut:
        """What a cut would do."""

    def cut(self, task: str, plan: Cut, text: str = "", yes: bool = False) -> str:
        """Carry out a cut; says what was done."""

    def restore(self, task: str, ids: Collection[str]) -> str:
        """Keep messages again; says what was done."""

    def settlement(self, fact: str) -> Settling:
        """A proposal and all that a person needs to settle it."""

    def confirm(self, fact: str, expect: str | None, value: str | None = None) -> str:
        """Accept a proposal, with another value where one is given; says what was done."""

    def keep_both(self, fact: str, expect: str | None, task: str) -> str:
        """Accept a proposal for one task alone; the old value holds for all others. Says what was done."""

    def join_keys(self, key: str, other: str) -> str:
        """Let a key lead to another: they are the same. Says what was done."""

    def reject(self, fact: str, why: str) -> str:
        """Reject a proposal; says what was done."""

    def claims(self, contest: Contest) -> tuple[ClaimShown, ...]:
        """What merged copies say of a field, and who said it."""

    def settle_contest(self, contest: Contest, claim: Claim) -> str:
        """Decide a field that merged copies say differently; says what was done."""

    def listen(self, pause: Callable[[], None]) -> bool:
        """Take in what was said in the sessions since the last look, and keep what records rest on.

        Returns:
            Whether there was something, so that there may be more.
        """

    def review(self) -> Review:
        """What was found in the sessions, and what of it stands before the person."""

    def accept_found(self, one: Found, typed: str | None = None) -> str:
        """Confirm a line, with another value or wording where one is typed; says what was done."""

    def keep_both_found(self, one: Found) -> str:
        """Let a value hold for this task alone, the old one for all others; says what was done."""

    def refuse_found(self, one: Found, why: str) -> str:
        """Refuse a line; says what was done."""

    def skip_found(self, one: Found) -> str:
        """Leave a line as it is, and ask no more; says what was done."""

    def new_task(self, title: str, objective: str) -> Written:
        """Make a task."""

    def new_fact(self, key: str, value: str, statement: str, constraint_of: str | None = None) -> Written:
        """Bring a fact, or a constraint of one task."""

    def edit_fact(self, fact: str, version: int, value: str, statement: str) -> Written:
        """Correct a fact as it was seen; another value of one that holds is proposed."""

    def edit_task(self, task: str, version: int, title: str, objective: str) -> Written:
        """Give a task as it was seen another title or objective."""

    def agents(self) -> tuple[AgentChoice, ...]:
        """Agents that could take the task, installed ones first."""

    def remembered(self) -> Choice | None:
        """The last choice for this repository."""

    def draft(self, task: str, choice: Choice) -> Draft:
        """A package as it would be."""

    def prepare(self, task: str, choice: Choice, replaces: str | None = None) -> str:
        """Store a package as pending; its id."""

    def stored(self, package: str) -> Draft:
        """A stored package, to look at."""

    def check(self, package: str) -> tuple[Difference, ...]:
        """What a package rests on that is no longer so."""

    def offers(self, package: str) -> tuple[LaunchOffer, ...]:
        """Ways to launch a package, the best one first."""

    def hand_over(self, package: str, way: LaunchWay, override: str | None = None) -> Handed:
        """Confirm a package and carry out the transfer."""

    def handed(self, package: str) -> Handed:
        """A package that was handed over before, to follow it again."""

    def leaving(self, package: str) -> str:
        """What a hand-over does about the executor that runs the task now; empty where nobody does."""

    def fallen(self, package: str) -> str:
        """A launched program that has ended counts as failed; says what was done."""

    def take_up_again(self, package: str) -> str:
        """Let the executor before a failed hand-over go on; says what was done."""

    def reject_package(self, package: str, why: str) -> str:
        """Reject a pending package; says what was done."""

    def request(self, word: str) -> RequestView:
        """What a request of the task's sessions carried; the newest where no word names one."""

    def timeline(self, kind: str, record: str) -> tuple[Step, ...]:
        """What happened to a record, newest first."""

    def plan_rollback(self, record: str, change: str) -> Plan:
        """What bringing a record back to what it was after a change would change."""

    def roll_back(self, plan: Plan) -> str:
        """Carry out what was shown; says what was done."""

    def undo_plan(self) -> UndoPlan | None:
        """What the next undo takes back; None where there is nothing."""

    def undo(self, change: str) -> str:
        """Take back the change that was shown, if it is still the last one; says what was done."""
