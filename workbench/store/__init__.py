"""The workspace folder: found, read and written so that nothing acknowledged is lost (see ``README.md`` here)."""

from workbench.store.location import Location, find_existing, locate
from workbench.store.records import Damage, Records, StoredPackage
from workbench.store.transaction import Transaction
from workbench.store.workspace import Workspace

__all__ = ["Damage", "Location", "Records", "StoredPackage", "Transaction", "Workspace", "find_existing", "locate"]
