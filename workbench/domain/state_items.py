"""The items of a state while a delta is applied to it: done, pending, started."""

from __future__ import annotations

import difflib
import re

from workbench.domain.alike import plain
from workbench.domain.delta import Conflict, DoneWord, Hand, NewItem, Outcome
from workbench.domain.ids import ALPHABET, LENGTH, new_id
from workbench.domain.task import DoneItem, Known, PendingItem, Started, TaskState
from workbench.errors import NotFoundError, UsageError
from workbench.text import one_line

Item = PendingItem | DoneItem
SHORTEST_PREFIX = 4
"""Characters of an id that stand for it; a shorter word is a text."""


def items_of(state: TaskState | None) -> dict[str, Item]:
    """Every item of a state by its id; a pending one where merging left both."""
    found: dict[str, Item] = {}
    if state is not None:
        found.update({item.id: item for item in state.done})
        found.update({item.id: item for item in state.pending})
    return found


class ItemEditor:
    """Moves items; one that changed since ``base`` stays as it is and becomes a conflict."""

    def __init__(self, state: TaskState, hand: Hand, base: TaskState | None, out: Outcome) -> None:
        self.pending_items = {item.id: item for item in state.pending}
        self.done_items = {item.id: item for item in state.done}
        self._before = items_of(state)
        self._seen = items_of(base)
        self._compared = base is not None
        self._hand = hand
        self._out = out

    def done(self, row: DoneWord) -> None:
        """Move an item to done in one step; a word that names none is something done that nobody had planned."""
        item = self._find(row.item, create=True)
        known, evidence = self._known(row)
        if isinstance(item, DoneItem):
            self._done_again(item, known, evidence)
            return
        if item is not None and self._conflict(item, "done"):
            return
        if item is None:
            item = PendingItem(id=new_id(), text=_text(row.item))
        self.pending_items.pop(item.id, None)
        self.done_items[item.id] = DoneItem(
            id=item.id,
            text=item.text,
            known=known,
            evidence=evidence,
            paths=item.paths,
            by=self._hand.by,
            at=self._hand.at,
            source=item.source,
        )
        self._out.applied.append(f"done, {known}: {_shown(item)}")
        steps = [step for step in self.pending_items.values() if step.parent == item.id]
        if steps:
            self._out.said.append(f"{len(steps)} of its steps are still pending: {_shown(item)}")

    def _done_again(self, item: DoneItem, known: Known, evidence: tuple[str, ...]) -> None:
        more = tuple(dict.fromkeys((*item.evidence, *evidence)))
        if known == "verified" and (item.known != "verified" or more != item.evidence):
            self.done_items[item.id] = item.with_(known=known, evidence=more)
            self._out.applied.append(f"verified: {_shown(item)}")
        else:
            self._out.said.append(f"done already ({item.known}, by {item.by} at {item.at}): {_shown(item)}")

    def _known(self, row: DoneWord) -> tuple[Known, tuple[str, ...]]:
        """Verified only by evidence that holds: somebody's word is a report."""
        held = tuple(name for name in row.evidence if not self._hand.evidence.get(name, "unknown"))
        self._out.said += [
            f"evidence {name} does not show it: {why}"
            for name in row.evidence
            if (why := self._hand.evidence.get(name, "unknown"))
        ]
        return ("verified", held) if held else ("reported", row.evidence)

    def pending(self, new: NewItem) -> None:
        """Add something to do; what is done or pending already adds nothing."""
        text = _text(new.text)
        same = self._by_text(text)
        if isinstance(same, DoneItem):
            self._out.said.append(
                f"done already ({same.known}, by {same.by} at {same.at}), nothing added: {_shown(same)}"
            )
            return
        if same is not None:
            if not same.accepted:
                self.pending_items[same.id] = same.with_(accepted=True)
                self._out.applied.append(f"accepted: {_shown(same)}")
            else:
                self._out.said.append(f"pending already, nothing added: {_shown(same)}")
            return
        parent = self._find(new.parent, create=False) if new.parent else None
        item = PendingItem(
            id=new_id(),
            text=text,
            qualifiers=new.qualifiers,
            priority=new.priority,
            paths=new.paths,
            parent=parent.id if parent is not None else None,
            by=self._hand.by,
            at=self._hand.at,
            source=new.source,
        )
        self.pending_items[item.id] = item
        self._out.applied.append(f"pending: {_shown(item)}")

    def start(self, word: str) -> None:
        """Note that the action of an item begins."""
        item = self._find(word, create=True)
        if isinstance(item, DoneItem):
            if not self._conflict(item, "started"):
                self._out.said.append(f"done already, not started again: {_shown(item)} (reopen it first)")
            return
        if item is None:
            self.pending(NewItem(text=word))
            item = self._by_text(_text(word))
            assert isinstance(item, PendingItem)
        begun = item.started
        if begun is not None and begun.attempt == self._hand.attempt and begun.by == self._hand.by:
            self._out.said.append(f"started already at {begun.at}: {_shown(item)}")
        elif not self._conflict(item, "started"):
            mark = Started(by=self._hand.by, at=self._hand.at, attempt=self._hand.attempt)
            self.pending_items[item.id] = item.with_(started=mark, accepted=True)
            self._out.applied.append(f"started: {_shown(item)}")
            if begun is not None:
                self._out.said.append(f"{begun.by} had started it at {begun.at}: look at its effect first")

    def give_up(self, word: str) -> None:
        """Note that a begun action was broken off on purpose."""
        item = self._open(word, "given up")
        if item is None:
            return
        if item.started is None:
            self._out.said.append(f"not started: {_shown(item)}")
        else:
            self.pending_items[item.id] = item.with_(started=None)
            self._out.applied.append(f"given up, pending again: {_shown(item)}")

    def drop(self, word: str) -> None:
        """Take a pending item away; its steps stay."""
        item = self._find(word, create=False)
        assert item is not None
        if isinstance(item, DoneItem):
            twins = [other for other in self.pending_items.values() if plain(other.text) == plain(item.text)]
            if not twins:
                if not self._conflict(item, "dropped"):
                    self._out.said.append(f"done, not pending: {_shown(item)}")
                return
            item = twins[0]
        if item.id not in self.pending_items:
            self._out.said.append(f"not pending any more: {_shown(item)}")
        elif not self._conflict(item, "dropped"):
            for step in [step for step in self.pending_items.values() if step.parent == item.id]:
                self.pending_items[step.id] = step.with_(parent=item.parent)
            del self.pending_items[item.id]
            self._out.applied.append(f"dropped: {_shown(item)}")

    def accept(self, word: str) -> None:
        """Take an item that was found in a text."""
        item = self._open(word, "accepted")
        if item is None:
            return
        if item.accepted:
            self._out.said.append(f"accepted already: {_shown(item)}")
        else:
            self.pending_items[item.id] = item.with_(accepted=True)
            self._out.applied.append(f"accepted: {_shown(item)}")

    def reword(self, word: str, text: str) -> None:
        """Give a pending item another text."""
        text = _text(text)
        item = self._open(word, text)
        if item is None:
            return
        same = self._by_text(text)
        if same is not None and same.id != item.id:
            where = "pending" if isinstance(same, PendingItem) else "done"
            self._out.said.append(f"{where} already, not reworded: {_shown(same)}")
        elif text != item.text:
            self.pending_items[item.id] = item.with_(text=text)
            self._out.applied.append(f"reworded: {one_line(text, 80)}")

    def reopen(self, word: str) -> None:
        """Make a done item pending again."""
        item = self._find(word, create=False, done_first=True)
        assert item is not None
        if isinstance(item, PendingItem):
            self._out.said.append(f"pending already: {_shown(item)}")
        elif not self._conflict(item, "pending"):
            del self.done_items[item.id]
            self.pending_items[item.id] = PendingItem(
                id=item.id, text=item.text, paths=item.paths, by=self._hand.by, at=self._hand.at, source=item.source
            )
            self._out.applied.append(f"pending again: {_shown(item)}")

    # Finding items, and what happened to them since.

    def _by_text(self, text: str) -> Item | None:
        """The item of this text; a done one counts before a pending one of the same text."""
        wanted = plain(text)
        items: list[Item] = [*self.done_items.values(), *self.pending_items.values()]
        return next((item for item in items if plain(item.text) == wanted), None)

    def _find(self, word: str, *, create: bool, done_first: bool = False) -> Item | None:
        """The item that a word means: its id, its text, or a unique beginning of its id.

        Where the caller saw an item that is gone, the item as it was seen. With ``create``, a word that
        names nothing is the text of a new item, unless it has the form of an id.
        """
        now: dict[str, Item] = (
            {**self.pending_items, **self.done_items} if done_first else {**self.done_items, **self.pending_items}
        )
        known = {**self._seen, **now}
        if word in known:
            return known[word]
        by_text = [item for item in known.values() if plain(item.text) == plain(word)]
        if by_text:
            rank = {id(item): number for number, item in enumerate(now.values())}
            wanted = DoneItem if done_first else PendingItem
            return min(by_text, key=lambda i: (i.id not in now, not isinstance(i, wanted), rank.get(id(i), 0)))
        prefix = word.strip().lower()
        if len(prefix) >= SHORTEST_PREFIX:
            found = sorted(key for key in known if key.startswith(prefix))
            if len(found) > 1:
                raise NotFoundError(f"{word!r} fits {len(found)} items", "give more of the id", candidates=found)
            if found:
                return known[found[0]]
        if create and not _looks_like_id(prefix):
            return None
        raise self._unknown(word)

    def _open(self, word: str, wanted: str) -> PendingItem | None:
        """The pending item that a word means; None where it changed since it was seen (noted as a conflict).

        Raises:
            NotFoundError: It is not pending, and was not when it was seen.
        """
        item = self._find(word, create=False)
        if item is None or (item.id not in self.pending_items and not self._compared):
            raise self._unknown(word)
        if self._conflict(item, wanted):
            return None
        if not isinstance(item, PendingItem):
            raise self._unknown(word)
        return item

    def _unknown(self, word: str) -> NotFoundError:
        items: list[Item] = [*self.pending_items.values(), *self.done_items.values()]
        texts = {item.text: item.id for item in items}
        near = difflib.get_close_matches(word, list(texts), n=3, cutoff=0.5)
        listed = [f"{texts[text]}  {one_line(text, 80)}" for text in near]
        return NotFoundError(
            f"no item {one_line(word, 60)!r} in this state", "see: workbench state show", candidates=listed
        )

    def _conflict(self, item: Item, wanted: str) -> bool:
        """Whether the item is another than the one that was seen; noted as a conflict."""
        if not self._compared:
            return False
        seen = self._seen.get(item.id)
        before = self._before.get(item.id)
        if seen == before:
            return False
        self._out.conflicts.append(Conflict(one_line(item.text, 80), _standing(seen), _standing(before), wanted))
        return True


def _looks_like_id(text: str) -> bool:
    """Whether a word is more likely an id, or the beginning of one, than a text."""
    if not (SHORTEST_PREFIX <= len(text) <= LENGTH and all(character in ALPHABET for character in text)):
        return False
    # Words have their digits at the end (step5), ids anywhere.
    return re.search(r"\d[a-z]", text) is not None or (len(text) == LENGTH and any(c.isdigit() for c in text))


def _text(text: str) -> str:
    flat = text.strip()
    if not flat:
        raise UsageError("an item needs a text")
    return flat


def _shown(item: Item) -> str:
    return f"{one_line(item.text, 80)} ({item.id})"


def _standing(item: Item | None) -> str:
    """How an item stands, for the two sides of a conflict."""
    if item is None:
        return "not there"
    if isinstance(item, DoneItem):
        return f"done ({item.known}, by {item.by} at {item.at}): {item.text}"
    if item.started is not None:
        return f"started by {item.started.by} at {item.started.at}: {item.text}"
    return f"pending: {item.text}"
