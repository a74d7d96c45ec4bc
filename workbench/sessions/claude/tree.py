"""Which records the model still has before it: the path from the newest record back to its root.

Records name their parent. Editing an earlier prompt leaves a branch behind, parallel calls make
branches that all belong, a compaction cuts the path, and parents that were never written are common.
The path is kept up to date record by record; only what a new branch touches is judged again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from struct import Struct

from workbench.sessions.bulk import index_of, numbers

PROMPT, ANSWER, RESULT, SIDE, AUXILIARY = range(5)
"""Roles of a node: a prompt, a line of an answer, tool results, a sub-agent's record, anything else."""

ROOT = -1

_ROLE, _ON_PATH, IN_CONTEXT = 7, 8, 16
"""Bits of a node's flags: its role, whether the path leads through it, whether it is in context."""
LEADING = _ON_PATH | IN_CONTEXT
"""What the flags of a new prompt, answer or result are besides its role."""


class Tree:
    """Nodes are numbered in file order; a parent always has a smaller number than its child."""

    def __init__(self) -> None:
        self.index: dict[str, int] = index_of(())
        """Node of a record's own id."""
        self.leaf = ROOT
        """The newest prompt, answer or result."""
        self.tip: str | None = None
        """Its own id."""
        self.newest = ROOT
        """The newest node that is no sub-agent's."""
        self.chained = False
        """Whether any record named a parent that is there: only then does naming none mean a new root."""
        self.names: list[str | None] = []
        """Id of the newest message at or above each node."""
        self.links = array("i")
        """By node: what it belongs to besides its parent."""
        self.flags = bytearray()
        self._parents = array("i")
        self._first = array("i")
        self._dirty: int | None = None

    def __len__(self) -> int:
        return len(self.flags)

    def add(self, uuid: str | None, parent: int, role: int, first: int, link: int = ROOT) -> int:
        """A new node; returns its number.

        Args:
            uuid: The record's own id.
            parent: Its parent's node.
            role: What it is.
            first: How many messages there were before it.
            link: The node that it belongs to besides its parent: an answer's line before, a result's call.
        """
        node = len(self.flags)
        if uuid is not None:
            self.index[uuid] = node
            if uuid == self.tip:
                self.tip = None
        self._parents.append(parent)
        self.links.append(link)
        self._first.append(first)
        self.names.append(uuid)
        if role < SIDE:
            self.flags.append(role | LEADING)
            if parent != self.leaf:
                self._switch(parent)
            if link >= 0 and role == ANSWER and not self.flags[link] & IN_CONTEXT:
                self.soil(link)
            self.leaf = self.newest = node
            self.tip = uuid
        elif role == SIDE:
            self.flags.append(role)
        else:
            # Progress of a background command may hang on a record long past: it never leads the path.
            kept = parent < 0 or self.flags[parent] & IN_CONTEXT
            self.flags.append(role | IN_CONTEXT if kept else role)
            self.newest = node
        return node

    def chained_on(self, roles: Sequence[int], links: Sequence[int], first: int) -> None:
        """Add the rest of several nodes, each hanging on the one before and the first of them on the leaf.

        Their names and places in the index are there already; each has one message, from the one at ``first`` on.
        """
        count = len(roles)
        self.flags.extend(roles)
        end = len(self.flags)
        number, packed = numbers(max(end, first + count)), Struct(f"{count}i").pack  # an array takes each by itself
        self.links.frombytes(packed(*links))
        self._parents.frombytes(packed(self.leaf, *number[end - count : end - 1]))
        self._first.frombytes(packed(*number[first : first + count]))
        self.leaf = self.newest = end - 1
        self.tip = self.names[-1]
        self.chained = True

    def kept(self, node: int) -> bool:
        """Whether a node is in context, as far as that was judged."""
        return bool(self.flags[node] & IN_CONTEXT)

    def first(self, node: int) -> int:
        """Where a node's messages begin in the list."""
        return self._first[node]

    def end(self, node: int, count: int) -> int:
        """Where a node's messages end, in a list of ``count``."""
        return self._first[node + 1] if node + 1 < len(self._first) else count

    def nameless(self, node: int) -> None:
        """Let a node without messages go by the name of its parent."""
        parent = self._parents[node]
        self.names[node] = self.names[parent] if parent >= 0 else None

    def main(self, node: int) -> int:
        """``node``, or where it is a sub-agent's, the leaf of the main conversation."""
        return self.leaf if node >= 0 and self.flags[node] & _ROLE == SIDE else node

    def _switch(self, parent: int) -> None:
        """Lead the path through ``parent`` instead of the leaf so far."""
        flags, parents = self.flags, self._parents
        node = parent
        lost = False
        while node >= 0 and not flags[node] & _ON_PATH:
            flags[node] |= _ON_PATH
            lost = lost or not flags[node] & IN_CONTEXT
            node = parents[node]
        junction = node
        node = self.leaf
        lost = lost or node > junction
        while node > junction:
            flags[node] &= ~_ON_PATH
            node = parents[node]
        if lost:
            self.soil(junction + 1)

    def soil(self, node: int) -> None:
        """Have everything from ``node`` on judged again."""
        self._dirty = node if self._dirty is None else min(self._dirty, node)

    def settle(self) -> Iterator[tuple[int, bool]]:
        """Nodes whose messages came into or left the model's context since the last call."""
        if self._dirty is None:
            return
        flags = self.flags
        start, self._dirty = self._whole_answers(self._dirty), None
        groups: set[int] = set()
        for node in range(start, len(flags)):
            if flags[node] & _ON_PATH and flags[node] & _ROLE == ANSWER:
                groups.update(self._group(node))
        for node in range(start, len(flags)):
            kept = self._belongs(node, groups)
            if kept != bool(flags[node] & IN_CONTEXT):
                flags[node] ^= IN_CONTEXT
                yield node, kept

    def _whole_answers(self, start: int) -> int:
        """The first node at or before ``start`` from which no answer is cut in two."""
        end = len(self.flags)
        while start < end:
            nodes = range(start, end)
            links = (self.links[node] for node in nodes if self.flags[node] & _ROLE == ANSWER)
            end, start = start, min((link for link in links if link >= 0), default=start)
        return min(start, end)

    def _group(self, node: int) -> Iterator[int]:
        """A line of an answer and the earlier lines of the same answer."""
        while node >= 0:
            yield node
            node = self.links[node]

    def _belongs(self, node: int, groups: set[int]) -> bool:
        flags = self.flags
        if flags[node] & _ON_PATH:
            return True
        role = flags[node] & _ROLE
        if role == ANSWER:
            # One answer is written line by line, and the path goes through the lines it likes.
            return node in groups or any(flags[line] & _ON_PATH for line in self._group(node))
        owner = self.links[node] if role == RESULT else self._parents[node] if role == AUXILIARY else ROOT
        return owner >= 0 and bool(flags[owner] & IN_CONTEXT)
