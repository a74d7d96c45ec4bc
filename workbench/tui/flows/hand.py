"""Hand off: agent, package, launch, follow; each step a modal with an answer, nothing sent before the last."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.package import Difference
from workbench.errors import RefusedError
from workbench.services.view import FactView
from workbench.tui import paint
from workbench.tui.desk import AgentChoice, Choice, Handed
from workbench.tui.flows.settle import settle
from workbench.tui.questions import open_questions
from workbench.tui.screens.ask import AskText
from workbench.tui.screens.follow import FollowScreen
from workbench.tui.screens.launch import LaunchScreen
from workbench.tui.screens.package import PackageInput, PackageScreen
from workbench.tui.screens.pick import Option, Pick

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


FOLLOWED = ("confirmed", "transferring", "launched", "received", "failed")
"""How a package stands that a person may follow again."""


async def hand_off(app: WorkbenchApp) -> None:
    """From the choice of an agent to the followed launch."""
    agents = await asyncio.to_thread(app.desk.agents)
    remembered = await asyncio.to_thread(app.desk.remembered)
    at = remembered.to if remembered else ""
    name = await app.push_screen_wait(Pick("hand off to", agent_options(agents, at), at=at))
    if name is None:
        return
    budget = remembered.budget if remembered and remembered.to == name else None
    await compile_and_go(app, Choice(to=name, budget=budget), waits_for(app, name))


def waits_for(app: WorkbenchApp, agent: str) -> str | None:
    """The pending hand-over of this task to this agent, which another one replaces."""
    view = app.view
    if view is None or view.task is None:
        return None
    pending = (
        p.envelope.id
        for p in view.packages
        if p.status == "pending"
        and (p.envelope.task, p.envelope.identity.to) == (view.task.task.id, agent)
        and p.envelope.identity.mode == "handoff"
    )
    return next(pending, None)


async def compile_and_go(app: WorkbenchApp, choice: Choice, replaces: str | None = None) -> None:
    """Let the person shape a package, then store and launch it."""
    view = app.view
    if view is None or view.task is None:
        return
    task = view.task.task.id

    async def pack(wanted: Choice) -> PackageInput:
        draft = await asyncio.to_thread(app.desk.draft, task, wanted)
        return PackageInput(draft, (), waiting(app))

    while True:
        answer = await app.push_screen_wait(PackageScreen(await pack(choice), pack, lambda fact: settle(app, fact)))
        if answer is None:
            return
        try:
            package = await asyncio.to_thread(app.desk.prepare, task, answer.choice, replaces)
            break
        except RefusedError as changed:
            # What was looked at is no longer so: said, and the package opens as it is now.
            app.fail(changed)
            choice = answer.choice
    app.changed(f"It replaces the package for {choice.to} that waited." if replaces else "")
    await launch(app, package, answer.choice)


async def renew(app: WorkbenchApp, package: str) -> None:
    """Compile a package that no longer holds anew, in its place."""
    draft = await asyncio.to_thread(app.desk.stored, package)
    await compile_and_go(app, draft.choice, replaces=package)


async def open_package(app: WorkbenchApp, package: str) -> None:
    """Look at a stored package; a pending one can go on from here."""
    view = app.view
    found = next((p for p in view.packages if p.envelope.id == package), None) if view else None
    if found is None:
        return
    draft = await asyncio.to_thread(app.desk.stored, package)
    pending = found.status == "pending"
    # One whose receiver has not begun was judged with the view; nobody confirms it any more.
    differences = await asyncio.to_thread(app.desk.check, package) if pending else found.differences
    enter = "launch" if pending else "follow" if found.status in FOLLOWED else ""
    why = app.refusal if pending else ""
    shown = PackageInput(draft, differences, waiting(app) if pending else (), why, enter)

    async def pack(_wanted: Choice) -> PackageInput:
        again = await asyncio.to_thread(app.desk.check, package)
        return PackageInput(draft, again, waiting(app), why, enter)

    answer = await app.push_screen_wait(PackageScreen(shown, pack, lambda fact: settle(app, fact)))
    if answer is None:
        return
    if answer.step == "recompile":
        await compile_and_go(app, draft.choice, replaces=package if pending else None)
    elif answer.step == "reject":
        await reject(app, package)
    elif pending:
        await launch(app, package, draft.choice)
    else:
        await follow(app, await asyncio.to_thread(app.desk.handed, package))


async def launch(app: WorkbenchApp, package: str, choice: Choice) -> None:
    """Check once more, choose the way, hand over, follow."""
    while True:
        differences: Sequence[Difference] = await asyncio.to_thread(app.desk.check, package)
        offers = await asyncio.to_thread(app.desk.offers, package)
        leaving = await asyncio.to_thread(app.desk.leaving, package)
        answer = await app.push_screen_wait(LaunchScreen(choice.to, offers, differences, leaving))
        if answer is None:
            app.say("The package waits in the packages pane (4).")
            return
        if answer.step == "recompile":
            await compile_and_go(app, choice, replaces=package)
            return
        if answer.step == "reject":
            await reject(app, package)
            return
        if answer.step == "launch" and answer.way is not None:
            break
        facts = waiting(app)
        if facts:
            await settle(app, facts[0].fact.id)
        else:
            app.say("Nothing waits to be settled.")
    with app.transferring():
        if answer.way == "foreground":
            with app.suspend():
                handed = await asyncio.to_thread(app.desk.hand_over, package, answer.way, answer.override)
        else:
            handed = await asyncio.to_thread(app.desk.hand_over, package, answer.way, answer.override)
    app.changed("")
    if answer.way == "copy" and not handed.failure:
        await app.copy(handed.to_copy or handed.command, f"the command that starts {handed.agent or choice.to}")
    await follow(app, handed)


async def follow(app: WorkbenchApp, handed: Handed) -> None:
    """Show how far a handover came, until the person has seen enough."""
    screen = FollowScreen(handed)
    screen.view = app.view
    how = await app.push_screen_wait(screen)
    if how is not None and app.refusal:
        app.say(app.refusal, kind="warning")
    elif how == "fallen":
        app.changed(await asyncio.to_thread(app.desk.fallen, handed.package))
    elif how == "again":
        app.changed(await asyncio.to_thread(app.desk.take_up_again, handed.package))


async def reject(app: WorkbenchApp, package: str) -> None:
    """Reject a package with a reason."""
    why = await app.push_screen_wait(AskText("reject the package", Content("It stays on record."), hint="why"))
    if why is not None:
        app.changed(await asyncio.to_thread(app.desk.reject_package, package, why))


def waiting(app: WorkbenchApp) -> tuple[FactView, ...]:
    """Proposals that stand against something, which a package carries as open."""
    if app.view is None:
        return ()
    return open_questions(f for f in app.view.facts if f.lifecycle in ("proposed", "contested") and f.against)


def agent_options(agents: Sequence[AgentChoice], at: str) -> list[Option]:
    """Agents as lines to pick, installed ones first."""
    ordered = sorted(agents, key=lambda a: a.executable is None)
    return [
        Option(
            agent.name,
            Content.assemble(
                ("● ", "$good") if agent.executable else ("○ ", paint.QUIET),
                paint.word(agent.title, 18, "bold" if agent.executable else ""),
                paint.word(f"{paint.short(agent.window)} window" if agent.window else "window not known", 18),
                ("≈ " if agent.estimated else "= ", paint.QUIET),
                paint.word(agent.tokenizer, 7, paint.QUIET),
                (" last time", "$info") if agent.name == at else ("", ""),
            ),
            paint.line(agent.executable or "not installed here: print and copy still work", paint.QUIET),
        )
        for agent in ordered
    ]
