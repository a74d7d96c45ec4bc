"""The records as TinyDB tables: its queries and its methods, on our own storage and write path.

TinyDB reads and writes whole tables. Here the updater gets a mapping that loads and writes only the
documents it names, inside a transaction: the cost of a write does not depend on how many there are.
Documents handed out are copies, and no result of a query is kept for later.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tinydb import TinyDB
from tinydb.queries import QueryLike
from tinydb.storages import Storage
from tinydb.table import Document, Table

from workbench.domain.ids import new_id
from workbench.domain.schema import TABLES
from workbench.errors import NotFoundError, UsageError
from workbench.store.transaction import Transaction

if TYPE_CHECKING:
    from workbench.store.workspace import Workspace

ACTOR = "workbench"
"""Actor of a change made through a table outside any transaction."""


class WorkspaceStorage(Storage):
    """TinyDB's view of a workspace: a mapping of tables, read at one moment."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def read(self) -> dict[str, dict[str, Any]]:
        """Every table with all its documents, as copies."""
        return {name: self.table(name) for name in TABLES}

    def table(self, name: str) -> dict[str, dict[str, Any]]:
        """One table with all its documents, as copies; those staged in this thread included."""
        documents = self.workspace.documents(name)
        if self.workspace.current is not None:
            self.workspace.current.stage_into(name, documents)
        return documents

    def write(self, data: dict[str, dict[str, Any]]) -> None:
        """Make the tables be what is given: only what differs is written, in one transaction."""
        with changing(self.workspace, "write tables") as tx:
            for name in TABLES:
                _Rows(tx, self, name).become(data.get(name, {}))


class _Rows(MutableMapping[str, Any]):
    """A table as an updater sees it: loads the documents that are named, and stages those that changed."""

    def __init__(
        self, tx: Transaction, storage: WorkspaceStorage, table: str, unused: frozenset[str] = frozenset()
    ) -> None:
        self._tx = tx
        self._unused = unused
        self._storage = storage
        self._table = table
        self._loaded: dict[str, dict[str, Any]] = {}
        self._before: dict[str, dict[str, Any] | None] = {}

    def _load(self, identifier: str) -> dict[str, Any] | None:
        if identifier not in self._before:
            document = None if identifier in self._unused else self._tx.document(self._table, identifier)
            self._before[identifier] = document
            if document is not None:
                self._loaded[identifier] = copy.deepcopy(document)
        return self._loaded.get(identifier)

    def __contains__(self, identifier: object) -> bool:
        return isinstance(identifier, str) and self._load(identifier) is not None

    def __getitem__(self, identifier: str) -> dict[str, Any]:
        document = self._load(identifier)
        if document is None:
            raise KeyError(identifier)
        return document

    def __setitem__(self, identifier: str, document: Mapping[str, Any]) -> None:
        self._load(identifier)
        self._loaded[identifier] = {**document, "id": identifier}

    def __delitem__(self, identifier: str) -> None:
        if self._load(identifier) is None:
            raise KeyError(identifier)
        del self._loaded[identifier]

    def __iter__(self) -> Iterator[str]:
        return iter(self._storage.table(self._table))

    def __len__(self) -> int:
        return len(self._storage.table(self._table))

    def become(self, rows: Mapping[str, Any]) -> None:
        """Be exactly these documents."""
        for identifier in self._storage.table(self._table).keys() - rows.keys():
            del self[identifier]
        for identifier, document in rows.items():
            self[identifier] = document
        self.stage()

    def stage(self) -> None:
        """Hand what changed to the transaction."""
        for identifier, before in self._before.items():
            after = self._loaded.get(identifier)
            if after == before:
                continue
            if after is None:
                self._tx.remove(self._table, identifier)
            else:
                self._tx.put_document(self._table, after)


class WorkspaceTable(Table):
    """A table of records; ids are strings, made by the store where a document brings none."""

    document_id_class = str  # type: ignore[assignment]

    def __init__(self, storage: WorkspaceStorage, name: str) -> None:
        # No query cache: it would answer with what was so before another process wrote.
        super().__init__(storage, name, cache_size=0)
        self._workspace_storage = storage
        self._unused: frozenset[str] = frozenset()

    def insert(self, document: Mapping[str, Any]) -> str:  # type: ignore[override]
        """Insert a document under its own ``id``, or a new one."""
        return self.insert_multiple([document])[0]

    def insert_multiple(self, documents: Iterable[Mapping[str, Any]]) -> list[str]:  # type: ignore[override]
        """Insert several documents in one transaction."""
        rows = [(document, _own_id(document)) for document in documents]
        named = [Document(dict(document), own or new_id()) for document, own in rows]  # type: ignore[arg-type]
        # Ids made here are new: nothing has to be looked through to know that.
        self._unused = frozenset(str(n.doc_id) for n, (_, own) in zip(named, rows, strict=True) if own is None)
        try:
            return super().insert_multiple(named)  # type: ignore[return-value]
        finally:
            self._unused = frozenset()

    def search(self, cond: QueryLike) -> list[Document]:
        """All documents that match, as they are now."""
        return [Document(document, identifier) for identifier, document in self._read_table().items() if cond(document)]  # type: ignore[arg-type]

    def get(self, cond: Any = None, doc_id: Any = None, doc_ids: Any = None) -> Any:
        """One document by condition or id, or several by ids; as they are now."""
        if doc_id is not None:
            found = self._one(doc_id)
            return None if found is None else Document(found, doc_id)
        if doc_ids is not None:
            every = [(identifier, self._one(identifier)) for identifier in doc_ids]
            return [Document(found, identifier) for identifier, found in every if found is not None]
        return super().get(cond)

    def _one(self, identifier: str) -> dict[str, Any] | None:
        return self._workspace_storage.workspace.document(self.name, identifier)

    def _read_table(self) -> dict[str, Any]:
        return self._workspace_storage.table(self.name)

    def _update_table(self, updater: Callable[[dict[Any, Any]], None]) -> None:
        with changing(self._workspace_storage.workspace, f"write {self.name}") as tx:
            rows = _Rows(tx, self._workspace_storage, self.name, self._unused)
            updater(rows)  # type: ignore[arg-type]
            rows.stage()


def _own_id(document: Mapping[str, Any]) -> str | None:
    if not isinstance(document, Mapping):
        raise UsageError(f"{type(document).__name__} is no document", "insert a mapping")
    own = document.doc_id if isinstance(document, Document) else document.get("id")
    return None if own is None else str(own)


class WorkspaceDB(TinyDB):
    """The tables of a workspace: ``tasks``, ``facts``, ``notes``, ``artifacts``, ``attempts``, ``aliases``."""

    table_class = WorkspaceTable  # type: ignore[assignment]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, storage=WorkspaceStorage)

    def table(self, name: str, **options: Any) -> WorkspaceTable:
        """A table by name.

        Raises:
            NotFoundError: The workspace has no such table (TinyDB's default table included).
        """
        if name not in TABLES:
            raise NotFoundError(f"no table {name!r}", "one of: " + ", ".join(TABLES), candidates=list(TABLES))
        table: WorkspaceTable = super().table(name, **options)  # type: ignore[assignment]
        return table


@contextmanager
def changing(workspace: Workspace, command: str) -> Iterator[Transaction]:
    """The transaction that is open in this thread, else one of its own."""
    if workspace.current is not None:
        yield workspace.current
        return
    with workspace.transaction(ACTOR, command) as tx:
        yield tx
