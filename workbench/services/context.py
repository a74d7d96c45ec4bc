"""Who acts, where, with what configuration: what every use case is given."""

from __future__ import annotations

import getpass
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.agents import AgentProgram, programs
from workbench.agents.presence import Presence, detect
from workbench.config import Config, user_dirs
from workbench.domain.times import stamp
from workbench.errors import HumanNeededError, RefusedError
from workbench.services.entrance import Entrance, enter
from workbench.services.fact_view import LastShown
from workbench.services.finding import SessionFinder
from workbench.services.latest import Latest
from workbench.services.pool import ChangedFiles, HashCache, HeldSessions, SessionPool, TokenCache
from workbench.store.location import Location
from workbench.store.pace import BYTES_PER_MINUTE, RECORDS_PER_MINUTE, Limits
from workbench.store.workspace import Workspace

if TYPE_CHECKING:
    from workbench.domain.state_findings import Finding
    from workbench.domain.trimming import Trim

HUMAN_SHELL = "WORKBENCH_HUMAN_SHELL"
"""Set to 1, it says that a person stands behind this shell (automation and tests)."""


@dataclass(frozen=True)
class Actor:
    """Who acts, and whether this process may carry out a person's acts."""

    name: str
    """``human:NAME`` or ``agent:NAME``."""
    refused: str = ""
    """Why a person's act is refused here; empty where it is allowed."""
    remedy: str = ""
    """What a person adds to the command where that is all that is missing; empty where nothing helps here."""

    @property
    def human(self) -> bool:
        """Whether the actor is a person."""
        return self.name.startswith("human:")


@dataclass(frozen=True)
class Context:
    """Everything that a use case needs to know about its surroundings."""

    workspace: Workspace
    location: Location
    actor: Actor
    config: Config
    env: Mapping[str, str]
    programs: Mapping[str, AgentProgram]
    fixed_now: datetime | None = None
    sessions: SessionPool = field(default_factory=SessionPool)
    finder: SessionFinder = field(default_factory=SessionFinder)
    hashes: HashCache = field(default_factory=HashCache)
    tokens: TokenCache = field(default_factory=TokenCache)
    changed_files: ChangedFiles = field(default_factory=ChangedFiles)
    held: HeldSessions = field(default_factory=HeldSessions)
    shown_facts: LastShown = field(default_factory=LastShown)
    found_odd: Latest[tuple[Finding, ...]] = field(default_factory=Latest)
    cited: Latest[frozenset[str]] = field(default_factory=Latest)
    telling_trims: Latest[Mapping[str, tuple[Trim, ...]]] = field(default_factory=Latest)
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held by whoever reads sessions; the app reads in one thread at a time."""

    @property
    def state_folder(self) -> Path:
        """The person's own state folder: prompts handed over, logs."""
        return user_dirs(self.env).state

    def now(self) -> datetime:
        """The present moment, or the one given by ``--now``."""
        return self.fixed_now or datetime.now(UTC)

    def stamp(self) -> str:
        """The present moment as stored text."""
        return stamp(self.now())

    @property
    def refusal(self) -> str:
        """Why acting is refused in this process, as a sentence; empty where it is not."""
        if self.workspace.read_only:
            return "This workspace was opened with --read-only."
        if not self.actor.human:
            return f"This runs as {self.actor.name}; only a person may decide."
        return f"Refused here: {self.actor.refused}." if self.actor.refused else ""

    def require_human(self, what: str) -> None:
        """Refuse an act that is a person's (``domain.md``, Who may do what).

        Raises:
            HumanNeededError: No person stands behind this process.
        """
        if not self.actor.human:
            because = f" ({self.actor.refused})" if self.actor.refused else ""
            raise HumanNeededError(
                f"{what} is a person's act; this command runs as {self.actor.name}{because}",
                self.actor.remedy or "ask the person to do it in the workbench or in a terminal of their own",
            )
        if self.actor.refused:
            raise HumanNeededError(f"{what} is a person's act, refused here: {self.actor.refused}", self.actor.remedy)

    def require_writable(self) -> None:
        """Refuse any change where the workspace was opened read-only, or in a person's name without her.

        Raises:
            RefusedError: The workspace is open read-only.
            HumanNeededError: The change would stand under a person's name, and none is behind this process.
        """
        if self.workspace.read_only:
            raise RefusedError("the workspace is open read-only", "start without --read-only to change it")
        if self.actor.human and self.actor.refused:
            raise HumanNeededError(
                f"this would be written as {self.actor.name}, refused here: {self.actor.refused}", self.actor.remedy
            )


def git_user_name(env: Mapping[str, str]) -> str | None:
    """``user.name`` of the person's own git configuration, read without running git."""
    home = Path(env.get("HOME", "~")).expanduser()
    paths = [env.get("GIT_CONFIG_GLOBAL"), str(home / ".gitconfig"), str(home / ".config" / "git" / "config")]
    for path in filter(None, paths):
        try:
            text = Path(path).read_text("utf-8", "replace")
        except OSError:
            continue
        section = re.search(r"^\s*\[user\]\s*$(.*?)(?=^\s*\[|\Z)", text, re.M | re.S | re.I)
        name = section and re.search(r"^\s*name\s*=\s*\"?([^\"\n#;]+?)\"?\s*$", section[1], re.M | re.I)
        if name:
            return name[1]
    return None


def person_name(config: Config, env: Mapping[str, str]) -> str:
    """``human:NAME``: from the user's configuration, git's ``user.name``, or the login."""
    name = config.user_name or git_user_name(env)
    if not name:
        try:
            name = getpass.getuser()
        except (KeyError, OSError):
            name = "person"
    return "human:" + "-".join(name.split())


def resolve_actor(
    as_: str | None, config: Config, env: Mapping[str, str], *, tty: bool, app: bool, yes: bool, presence: Presence
) -> Actor:
    """Who acts (``interfaces.md``, ``--as``), and whether a person's acts are refused in this process."""
    vouched = env.get(HUMAN_SHELL) == "1"
    asked = as_ or env.get("WORKBENCH_ACTOR")
    an_agents = presence.agent is not None and not vouched
    if asked and asked.startswith("human") and an_agents:
        name = f"agent:{presence.agent}"  # in an agent's shell nobody speaks as a person, not even by saying so
    elif asked == "human":
        name = person_name(config, env)
    elif asked:
        name = asked if ":" in asked else f"agent:{asked}"
    elif vouched or ((app or tty) and presence.agent is None):
        name = person_name(config, env)
    else:
        name = f"agent:{presence.agent or 'unknown'}"
    refused = remedy = ""
    if an_agents:
        refused = f"this shell belongs to an agent ({presence.agent}: {presence.how})"
    elif not (tty or app or yes or vouched):
        refused = "there is no terminal to ask on"
    if not (an_agents or tty or app or vouched) and (name.startswith("human:") or not asked):
        needed = "--yes" if name.startswith("human:") else "--as human --yes"
        remedy = f"where you are the person and have decided already, give {needed}"
    return Actor(name, refused, remedy)


def open_context(
    start: Path,
    *,
    workspace: Path | None = None,
    as_: str | None = None,
    env: Mapping[str, str],
    now: datetime | None = None,
    tty: bool = False,
    app: bool = False,
    read_only: bool = False,
    yes: bool = False,
) -> Context:
    """Find the workspace of ``start`` and everything that belongs to acting in it.

    Raises:
        NotFoundError: There is no workspace here.
        UsageError: The user's configuration cannot be read; where only looked at, that is a warning.
        DamagedError: Likewise, the workspace's.
    """
    entrance = enter(start, workspace=workspace, env=env, read_only=read_only)
    return furnish(entrance, as_=as_, now=now, tty=tty, app=app, yes=yes)


def furnish(
    entrance: Entrance,
    *,
    as_: str | None = None,
    now: datetime | None = None,
    tty: bool = False,
    app: bool = False,
    yes: bool = False,
) -> Context:
    """Open the workspace that was found, and everything that belongs to acting in it."""
    config, env = entrance.config, entrance.env
    actor = resolve_actor(as_, config, env, tty=tty, app=app, yes=yes, presence=detect(env))
    opened = Workspace.open(entrance.location, read_only=entrance.read_only)
    opened.limits = Limits(
        records_per_minute=config.records_per_minute or RECORDS_PER_MINUTE,
        bytes_per_minute=config.bytes_per_minute or BYTES_PER_MINUTE,
    )
    return Context(
        workspace=opened,
        location=entrance.location,
        actor=actor,
        config=config,
        env=env,
        programs=programs(config),
        fixed_now=now,
        sessions=SessionPool(user_dirs(env).cache),
    )
