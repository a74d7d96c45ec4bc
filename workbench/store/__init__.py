"""The workspace folder: found, read and written so that nothing acknowledged is lost (see ``README.md`` here)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.store.location import Location, find_existing, locate
    from workbench.store.records import Damage, Records, StoredPackage
    from workbench.store.transaction import Transaction
    from workbench.store.workspace import Workspace

__all__ = ["Damage", "Location", "Records", "StoredPackage", "Transaction", "Workspace", "find_existing", "locate"]
_HOME = {
    "Damage": "records",
    "Location": "location",
    "Records": "records",
    "StoredPackage": "records",
    "Transaction": "transaction",
    "Workspace": "workspace",
    "find_existing": "location",
    "locate": "location",
}


def __getattr__(name: str) -> object:
    """Load a name when it is asked for: whoever only looks where a workspace lies needs none of the rest."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
