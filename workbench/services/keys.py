"""The facts of one key, read without the others: their folders are named after it, and after what leads to it.

A command that concerns one key pays for that key, however many there are. A fact whose key was changed by hand in its
file counts for its new key once some command looks at all records and moves it to its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from workbench.domain.alike import alike_keys
from workbench.domain.ids import is_id
from workbench.errors import DamagedError
from workbench.services.context import Context
from workbench.store.names import key_in, names_of
from workbench.store.records import Records
from workbench.store.transaction import Transaction

_MOST = 3
"""Look-alikes that are named."""


def of_key(ctx: Context, key: str, tx: Transaction | None = None, *, folders: Sequence[str] | None = None) -> Records:
    """Every fact of a key in any spelling, and every alias; nothing else.

    Args:
        ctx: Where.
        key: The key, or an alias of it.
        tx: The transaction to read in; else as it stands now.
        folders: The folders of facts, where they were listed just now.
    """
    look = ctx.workspace.look if tx is None else tx.look
    aliases = look("aliases")
    registry = aliases.registry
    canonical = registry.canonical(key)
    keys = {canonical, *(a.alias for a in aliases.aliases.values() if registry.canonical(a.alias) == canonical)}
    mine = names_of(ctx.workspace.folders("facts") if folders is None else folders, keys)
    return look("aliases", *(f"facts/{name}" for name in mine))


def around(ctx: Context, fact_id: str, tx: Transaction | None = None) -> Records:
    """What an act on one fact rests on: the facts of its key. All records, where it is not named by its whole id."""
    if is_id(fact_id):
        with suppress(DamagedError):
            key = _key_of(ctx, fact_id, tx)
            found = of_key(ctx, key, tx) if key is not None else None
            if found is not None and fact_id in found.facts:
                return found
    return ctx.workspace.load() if tx is None else tx.records


def _key_of(ctx: Context, fact_id: str, tx: Transaction | None) -> str | None:
    if tx is not None:
        document = tx.document("facts", fact_id)
        return None if document is None else str(document["key"])
    place = ctx.workspace.place_of("facts", fact_id)
    fact = ctx.workspace.look(place).facts.get(fact_id) if place is not None else None
    return None if fact is None else fact.key


def look_alikes(ctx: Context, records: Records, key: str, folders: Sequence[str]) -> tuple[str, ...]:
    """Canonical keys that look like another spelling of ``key``: an offer to join them, nothing more.

    Args:
        ctx: Where.
        records: All aliases are among them.
        key: A key.
        folders: The folders of facts.
    """
    canonical = records.registry.canonical
    aliased = {alias.alias for alias in records.aliases.values()}
    known: dict[str, list[str]] = {}
    for name in folders:
        text = key_in(name)
        if text is None:  # too long for a name: the record holds it
            text = next((canonical(fact.key) for fact in ctx.workspace.look(f"facts/{name}").facts.values()), "")
        known.setdefault(canonical(text) if text in aliased else text, []).append(name)
    # A folder may be empty by now.
    alike = alike_keys(canonical(key), (text for text in known if text), 2 * _MOST)
    held = [text for text in alike if ctx.workspace.look(*(f"facts/{name}" for name in known[text])).facts]
    return tuple(held[:_MOST])
