"""A leaked secret, or a record, is gone from everything beneath the workspace; that something went stays known."""

from __future__ import annotations

import base64
import gzip
import html
import json
import os
import re
import shutil
import struct
from contextlib import suppress
from dataclasses import replace
from html.entities import html5
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from tests.store.conftest import AT, PERSON, make_fact, make_task
from tests.store.test_workspace import envelope, event
from workbench.domain.artifact import Artifact, ArtifactVersion
from workbench.domain.evidence import Evidence
from workbench.domain.fact import Alias
from workbench.domain.ids import new_id
from workbench.domain.note import Note
from workbench.domain.record import Stamp
from workbench.domain.trimming import Trim
from workbench.errors import NotFoundError, RefusedError, UsageError
from workbench.services import care, changes, merging
from workbench.services.context import Context, open_context
from workbench.services.workspaces import init
from workbench.store.form import digest
from workbench.store.primitives import watched

STAMP = Stamp(by=PERSON, at=AT)
SECRETS = {
    "plain": "Tr0ub4dor-and-3",
    "with quotes and backslashes": "a\"b\\c'd/e",
    "not ASCII": "пароль-密码-ü",
    "several lines": "first line\nsecond\tline",
    "like a key": "My.Secret.Key",
}


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    folder = tmp_path / "project"
    folder.mkdir()
    init(folder, env=os.environ)
    return open_context(folder, env=os.environ)


def spread(ctx: Context, secret: str) -> str:
    """Put a secret wherever text can go; the id of the package is handed back."""
    task = make_task(f"Title {secret}")
    key = secret.replace("\n", "").replace("/", "").replace("\t", "").replace(" ", "")
    package = envelope(task.id)
    prompt = f"prompt with {secret}\n".encode()
    blob = f"content with {secret}".encode()
    with ctx.workspace.transaction(PERSON, f"say {secret}", f"because {secret}") as tx:
        tx.put(task)
        tx.put(make_fact("value", {"deep": [secret, {secret: 1}]}))
        tx.put(make_fact(f"key.{key}" if key else "key", secret))
        tx.put(Note(id=new_id(), key=f"note {secret}", value=secret, written=STAMP))
        tx.put(Alias(id=new_id(), alias=f"alias {secret}", canonical="value"))
        sha256 = tx.put_blob(blob)
        version = ArtifactVersion(number=1, sha256=sha256, size=len(blob), kept=True, made=STAMP)
        tx.put(Artifact(id=new_id(), key=secret, versions=(version,)))
        tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, text=secret, at=AT))
        tx.append_trim(f"claude:{secret}", Trim(id=new_id(), act="drop", messages=("m",), by=PERSON, at=AT, why=secret))
        tx.add_package(package.with_(content={"x": secret}, prompt_sha256=digest(prompt)), prompt, event(why=secret))
    with ctx.workspace.transaction(PERSON, "once more") as tx:
        tx.put(task.with_(title=f"Other title {secret}"))
    local = ctx.workspace.root / ".local"
    ctx.workspace.local.set("scratch", {"said": secret})
    (local / "quarantine").mkdir()
    (local / "quarantine" / "old.json").write_bytes(b"<<<< " + secret.encode() + b"\n" + json.dumps(secret).encode())
    (local / "search.sqlite").write_bytes(b"SQLite format 3\0" + secret.encode())
    (ctx.workspace.root / "workspace.toml").write_text(f"[[guidelines]]\ntext = {json.dumps(secret)}\n")
    hand_made = ctx.workspace.root / "facts" / "hand" / f"{new_id()}.json"
    hand_made.parent.mkdir()
    ascii_only = json.dumps({"id": hand_made.stem, "key": "hand", "value": secret}, ensure_ascii=True)
    hand_made.write_text(ascii_only)
    return package.id


def found(root: Path, secret: str) -> list[str]:
    """Where a secret is found by looking for it, in bytes, behind escapes, or in names."""
    forms = {secret.encode(), json.dumps(secret)[1:-1].encode(), json.dumps(secret, ensure_ascii=False)[1:-1].encode()}
    hits = []
    for path in sorted(root.rglob("*")):
        if secret in path.name or secret.lower() in path.name:
            hits.append(f"name {path}")
        if path.is_file() and any(form in path.read_bytes() for form in forms):
            hits.append(str(path.relative_to(root)))
    return hits


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_nothing_of_a_secret_is_left(ctx: Context, secret: str) -> None:
    package = spread(ctx, secret)
    assert len(found(ctx.workspace.root, secret)) > 10
    care.purge_text(ctx, secret, "leaked")
    assert found(ctx.workspace.root, secret) == []
    # All that is left is whole, and says that something went, by whom and why.
    again = open_context(ctx.location.base, env=os.environ)
    records = again.workspace.load()
    assert records.damaged == ()
    assert [check.detail for check in care.doctor(again) if not check.ok] == []
    (tombstone,) = [c for c in again.workspace.changes() if c.command.startswith("purge")]
    assert (tombstone.actor, tombstone.why) == (again.actor.name, "leaked")
    assert "«purged»" in again.workspace.prompt(package).decode()
    (artifact,) = records.artifacts.values()
    assert b"\xc2\xabpurged\xc2\xbb" in again.workspace.blob(artifact.versions[0].sha256)
    assert len(again.workspace.blobs()) == 1
    with pytest.raises(NotFoundError):
        care.purge_text(again, secret)
    with again.workspace.transaction(PERSON, "goes on") as tx:
        tx.put(make_fact("after", 1))


def encodings(secret: str) -> dict[str, str]:
    """The secret as other programs write it."""
    names = {text: name for name, text in html5.items() if name.endswith(";")}
    raw = secret.encode()
    once = json.dumps(secret)[1:-1]
    return {
        "as it is": secret,
        "json": once,
        "json in json": json.dumps(json.dumps(secret, ensure_ascii=False))[1:-1],
        "every character escaped": "".join(f"\\u{unit:04X}" for unit in struct.unpack(
            f">{len(secret.encode('utf-16-be')) // 2}H", secret.encode("utf-16-be"))),
        "address": quote(secret),
        "address, all of it": "".join(f"%{byte:02x}" for byte in raw),
        "form": quote_plus(secret, safe=""),
        "address in an address": quote(quote(secret, safe=""), safe=""),
        "markup": html.escape(secret),
        "numbers": (numbers := "".join(f"&#{ord(one)};" for one in secret)),
        "hexadecimal numbers": "".join(f"&#x{ord(one):X};" for one in secret),
        "long numbers": "".join(f"&#{ord(one):07d};" for one in secret),
        "numbers without an end": "".join(f"&#X{ord(one):06x}" for one in secret[:-1]) + f"&#{ord(secret[-1])};",
        "a number here and there": "".join(f"&#{ord(one)};" if n % 2 else one for n, one in enumerate(secret)),
        "numbers in markup": html.escape(numbers),
        "numbers in an address": quote(numbers, safe=""),
        "every name": "".join(f"&{names[one]}" if one in names else one for one in secret),
        "base64": base64.b64encode(raw).decode(),
        "base64 of a line": base64.b64encode(raw + b"\n").decode(),
        "base64 with a name": base64.b64encode(b"user:" + raw).decode(),
        "base64 with a longer name": base64.b64encode(b"user12:" + raw + b"@host").decode(),
        "base64 for addresses": base64.urlsafe_b64encode(b"me:" + raw + b"?>").decode(),
        "base64 in an address": quote(base64.b64encode(raw).decode(), safe=""),
    }  # fmt: skip


@pytest.mark.parametrize("secret", [*SECRETS.values(), "hunter2!", "ab>?~~ü"], ids=[*SECRETS, "short", "odd"])
def test_no_encoded_form_of_a_secret_is_left(ctx: Context, secret: str) -> None:
    forms = encodings(secret)
    text = "\n".join(f"{name}: <{form}>" for name, form in forms.items())
    task = make_task(objective := "Keep this")
    package = envelope(task.id)
    with ctx.workspace.transaction(PERSON, "say", f"because {text}") as tx:
        tx.put(task)
        tx.put(make_fact("value", forms))
        tx.put_blob(text.encode())
        tx.put_blob(b"wide " + secret.encode("utf-16-le"))
        tx.append_evidence(Evidence(id=new_id(), kind="claim", task=task.id, text=text, at=AT))
        tx.add_package(package, text.encode(), event(why=text))
    history = ctx.workspace.root / "history" / "claude.jsonl"
    history.parent.mkdir(exist_ok=True)
    history.write_text(json.dumps({"id": "m", "text": text}) + "\n" + text)
    care.purge_text(ctx, secret)
    everything = b"\n".join(p.read_bytes() for p in sorted(ctx.workspace.root.rglob("*")) if p.is_file())
    left = [n for n, f in forms.items() if f.encode() in everything or json.dumps(f)[1:-1].encode() in everything]
    assert secret.encode("utf-16-le") not in everything
    assert left == []
    # What stood around it is still there, and all of it can be read.
    assert len(re.findall("«purged»".encode(), everything)) > 5 * len(forms)
    for name in forms:
        assert name in ctx.workspace.prompt(package.id).decode()
    again = open_context(ctx.location.base, env=os.environ)
    assert again.workspace.load().tasks[task.id].title == objective
    assert [check.detail for check in care.doctor(again) if not check.ok] == []


def test_contents_that_cannot_be_looked_into_are_named(ctx: Context) -> None:
    with ctx.workspace.transaction(PERSON, "keep") as tx:
        name = tx.put_blob(gzip.compress(b"Tr0ub4dor-and-3"))
        tx.put(make_fact("a", ["Tr0ub4dor-and-3", name]))
    (told,) = [check for check in care.purge_text(ctx, "Tr0ub4dor-and-3") if not check.ok]
    assert told.path == f"blobs/{name}"
    with pytest.raises(NotFoundError, match="1 compressed"):
        care.purge_text(ctx, "Tr0ub4dor-and-3")


def test_what_only_looks_like_it_stays(ctx: Context) -> None:
    texts = ["Tr0ub4dor-and-4", "VHIwdWI0ZG9yLWFuZC00", "a b", "%41%42", "sha 0123456789abcdef" * 4]
    with ctx.workspace.transaction(PERSON, "keep") as tx:
        tx.put(make_fact("a", [*texts, "Tr0ub4dor-and-3"]))
    care.purge_text(ctx, "Tr0ub4dor-and-3")
    (fact,) = ctx.workspace.load().facts.values()
    assert fact.value == [*texts, "«purged»"]


def edited(ctx: Context, note: Note, text: str) -> None:
    path = next(ctx.workspace.root.rglob(f"{note.id}.json"))
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"value": text}))


@pytest.mark.parametrize("text", ["by hand", "by hand, with Tr0ub4dor-and-3"])
@pytest.mark.parametrize("when", ["before", "within"])
def test_a_hand_edit_is_told_though_a_purge_comes_first(ctx: Context, text: str, when: str) -> None:
    note = Note(id=new_id(), key="n", value="as written", written=STAMP)
    with ctx.workspace.transaction(PERSON, "put") as tx:
        tx.put(note)
        tx.put(make_fact("a", SECRETS["plain"]))
    again = open_context(ctx.location.base, env=os.environ)
    if when == "before":
        edited(ctx, note, text)

    def within(operation: str, path: str) -> None:
        if operation == "create" and path.startswith("changes/") and when == "within":
            edited(ctx, note, text)  # its records are clean, and the past is about to be rewritten

    with watched(within):
        care.purge_text(again, SECRETS["plain"])
    with ctx.workspace.transaction(PERSON, "look") as tx:
        assert tx.records.notes[note.id].value.startswith("by hand")
    told = [change for change in ctx.workspace.changes() if change.actor == "outside"]
    assert [row.id for change in told for row in change.records] == [note.id]
    if when == "before":
        assert found(ctx.workspace.root, SECRETS["plain"]) == []


def test_a_purge_cut_short_is_finished_by_repeating_it(ctx: Context) -> None:
    from workbench.store.primitives import watched

    secret = SECRETS["plain"]
    spread(ctx, secret)
    base = ctx.workspace.root.parent

    class Died(BaseException):
        pass

    k = 0
    while True:
        k += 7
        copy = base.parent / f"copy{k}"
        shutil.copytree(base, copy)
        count = 0

        def hook(operation: str, path: str, k: int = k) -> None:
            nonlocal count
            count += 1
            if count == k:
                raise Died

        there = open_context(copy, env=os.environ)
        try:
            with watched(hook):
                care.purge_text(there, secret)
        except Died:
            assert open_context(copy, env=os.environ).workspace.load().damaged == ()
            with suppress(NotFoundError):  # all but the last notes were done
                care.purge_text(open_context(copy, env=os.environ), secret)
        assert found(copy, secret) == [], k
        if count < k:
            break
    assert k > 100


def test_a_record_is_gone_with_its_past(ctx: Context) -> None:
    fact = make_fact("shelf.width", "only here")
    kept = make_fact("shelf.depth", "stays")
    with ctx.workspace.transaction(PERSON, "put") as tx:
        tx.put(fact)
        tx.put(kept)
    with ctx.workspace.transaction(PERSON, "put") as tx:
        tx.put(fact.with_(value="only here, too"))
    assert care.find_purgeable(ctx, fact.id[:6]) == ("facts", fact.id)
    care.purge(ctx, "facts", fact.id, "private")
    assert found(ctx.workspace.root, "only here") == []
    assert found(ctx.workspace.root, "shelf.width") == []
    assert list(ctx.workspace.load().facts) == [kept.id]
    said, _ = changes.log(ctx, fact.id)
    assert (said[0].command, said[0].why) == (f"purge fact {fact.id}", "private")
    assert len(said) == 3
    assert [check for check in care.doctor(ctx) if not check.ok] == []


def test_a_package_is_gone_with_its_prompt(ctx: Context) -> None:
    package = spread(ctx, "harmless text")
    care.purge(ctx, *care.find_purgeable(ctx, f"packages/{package}"))
    assert ctx.workspace.load().packages == {}
    assert not (ctx.workspace.root / "packages" / package / "prompt.md").exists()
    assert ctx.workspace.load().damaged == ()
    assert [check for check in care.doctor(ctx) if not check.ok] == []


def test_what_was_purged_does_not_come_back_with_a_copy(ctx: Context, tmp_path: Path) -> None:
    fact, said = make_fact("a", "private"), make_fact("b", "Tr0ub4dor-and-3")
    with ctx.workspace.transaction(PERSON, "put") as tx:
        tx.put(fact)
        tx.put(said)
    shutil.copytree(ctx.workspace.root, tmp_path / "copy")
    care.purge(ctx, "facts", fact.id)
    care.purge_text(ctx, "Tr0ub4dor-and-3")
    merging.merge_copy(ctx, tmp_path / "copy")
    assert found(ctx.workspace.root, "Tr0ub4dor-and-3") == []
    assert {f.key: f.value for f in ctx.workspace.load().facts.values()} == {"b": "«purged»"}


def test_what_the_person_keeps_elsewhere_is_purged_too(ctx: Context) -> None:
    secret = SECRETS["plain"]
    ctx.state_folder.mkdir(parents=True)
    prompt = ctx.state_folder / "prompt.md"
    prompt.write_text(f"do it with {secret}")
    care.purge_text(ctx, secret)
    assert prompt.read_text() == "do it with «purged»"


def test_what_is_refused(ctx: Context) -> None:
    with pytest.raises(UsageError):
        care.purge_text(ctx, "abc")
    with pytest.raises(NotFoundError):
        care.purge_text(ctx, "stands nowhere")
    with pytest.raises(NotFoundError):
        care.find_purgeable(ctx, "zzz")
    agent = replace(ctx, actor=replace(ctx.actor, name="agent:claude"))
    with pytest.raises(RefusedError):
        care.purge_text(agent, "secret")
    with pytest.raises(RefusedError):
        care.purge(agent, "facts", "x")
    with pytest.raises(RefusedError):
        care.gc(agent)
