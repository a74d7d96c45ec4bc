"""Settling, writing and editing, over the real services."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.domain.contested import RUNNING, Contest, claim_text
from workbench.domain.fact import WORKSPACE, Fact, value_text
from workbench.domain.record import Claim, Json
from workbench.domain.task import Attempt
from workbench.errors import UsageError
from workbench.services import contests, facts, tasks
from workbench.tui.desk import ClaimShown, Settling, Written
from workbench.tui.desk_base import DeskBase, typed_value


class WritingDesk(DeskBase):
    """Facts and tasks, as a person decides, writes and corrects them."""

    def settlement(self, fact: str) -> Settling:
        """A proposal and all that a person needs to settle it."""
        found = facts.settlement(self.ctx, fact)
        active = found.active.fact if found.active else None
        others = tuple(f for f in found.proposal.against if active is None or f.id != active.id)
        records = self.ctx.workspace.load()
        task = tasks.current_task(self.ctx, records)
        apart = active is not None and found.proposal.fact.scope == WORKSPACE and found.proposal.lifecycle == "proposed"
        return Settling(
            proposal=found.proposal,
            active=active,
            others=others,
            depends=found.depends_on,
            expect=found.expect,
            task=task.id if apart and task is not None else None,
            look_alikes=facts.look_alikes(records.registry, found.proposal.key),
        )

    def confirm(self, fact: str, expect: str | None, value: str | None = None) -> str:
        """Accept a proposal, with another value where one is given."""
        edits: dict[str, Json] = {}
        if value is not None:
            before = facts.find(self.ctx, fact)
            edits["value"] = value if isinstance(before.value, str) else typed_value(value)
            if before.statement:
                edits["statement"] = ""
        done = facts.confirm(self.ctx, fact, expect=expect, **edits)
        return f"{done.key} is {value_text(done.value)}."

    def keep_both(self, fact: str, expect: str | None, task: str) -> str:
        """Accept a proposal for one task alone."""
        done = facts.confirm(self.ctx, fact, expect=expect, scope=task)
        slug = self.ctx.workspace.load().tasks[task].slug
        return f"{done.key} is {value_text(done.value)} for {slug} alone."

    def join_keys(self, key: str, other: str) -> str:
        """Let a key lead to another."""
        done = facts.alias(self.ctx, key, other)
        return f"{done.alias} leads to {done.canonical}."

    def reject(self, fact: str, why: str) -> str:
        """Reject a proposal."""
        done = facts.reject(self.ctx, fact, why)
        return f"{done.key}: {value_text(done.value)} is rejected."

    def claims(self, contest: Contest) -> tuple[ClaimShown, ...]:
        """What merged copies say of a field, and who said it."""
        told = contests.origins(self.ctx, [contest])
        attempts = self.ctx.workspace.load().attempts if contest.field == RUNNING else {}
        return tuple(
            ClaimShown(claim, _claim(claim, attempts), told.get(claim.change, ""), contest.stands(claim))
            for claim in contest.claims
        )

    def settle_contest(self, contest: Contest, claim: Claim) -> str:
        """Decide a field that merged copies say differently."""
        contests.settle(self.ctx, contest, claim)
        return f"{contest.title} is {claim_text(claim)}."

    # Writing.

    def new_task(self, title: str, objective: str) -> Written:
        """Make a task, which becomes the current one."""
        made = tasks.new(self.ctx, {"title": title, **({"objective": objective} if objective else {})})
        return Written(f"Task {made.slug} is made; it is the current one.")

    def new_fact(self, key: str, value: str, statement: str, constraint_of: str | None = None) -> Written:
        """Bring a value; where another one holds, it waits for the person's word."""
        if not value:
            raise UsageError("a value is needed")
        arrival = facts.propose(
            self.ctx,
            key,
            typed_value(value),
            kind="constraint" if constraint_of else "fact",
            statement=statement,
            scope=self._task(constraint_of).id if constraint_of else WORKSPACE,
        )
        return self._arrived(arrival.fact, arrival.outcome)

    def edit_fact(self, fact: str, version: int, value: str, statement: str) -> Written:
        """Correct the wording, or a proposal's value; another value of what holds is a new fact, to be settled."""
        before = facts.find(self.ctx, fact)
        other = value != value_text(before.value)
        typed: Json = value if isinstance(before.value, str) else typed_value(value)
        if not value:
            raise UsageError("a value is needed")
        if other and before.acts:
            wording = "" if statement == before.statement else statement
            arrival = facts.propose(
                self.ctx, before.key, typed, kind=before.kind, statement=wording, scope=before.scope
            )
            return self._arrived(arrival.fact, arrival.outcome)
        edits: dict[str, Json] = {"value": typed} if other else {}
        if statement != before.statement:
            edits["statement"] = statement
        if not edits:
            return Written("Nothing was changed.")
        done = facts.edit(self.ctx, fact, version, **edits)
        return Written(f"{done.key} is corrected.")

    def _arrived(self, fact: Fact, outcome: str) -> Written:
        said = f"{fact.key}: {value_text(fact.value)}"
        words = {"active": "holds", "corroborated": "held already; it was said once more", "proposed": "is proposed"}
        return Written(f"{said} {words.get(outcome, outcome)}.", fact.id if outcome == "proposed" else "")

    def edit_task(self, task: str, version: int, title: str, objective: str) -> Written:
        """Give a task another title or objective."""
        now = self._task(task)
        if not title:
            raise UsageError("a task needs a title")
        wanted = {"title": title, "objective": objective}
        had = {"title": now.title, "objective": now.contract.objective}
        edits = {name: text for name, text in wanted.items() if text != had[name]}
        if not edits:
            return Written("Nothing was changed.")
        done = tasks.revise(self.ctx, now.with_(version=version), edits)
        more = f", plan revision {done.plan_revision}" if done.plan_revision != now.plan_revision else ""
        return Written(f"Task {done.slug} is revised{more}.")


def _claim(claim: Claim, attempts: Mapping[str, Attempt]) -> str:
    """A claim on a line; of an attempt, whose it is."""
    attempt = attempts.get(claim.value) if isinstance(claim.value, str) else None
    said = claim_text(claim)
    return f"{attempt.executor} goes on ({attempt.status}, attempt {said})" if attempt is not None else said
