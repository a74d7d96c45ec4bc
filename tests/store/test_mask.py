"""Secrets are replaced by span in every door of the store; what only looks like one stays."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.conftest import AT, PERSON, make_fact, make_task
from tests.store.test_workspace import envelope, event
from workbench.domain.evidence import Evidence
from workbench.domain.ids import new_id
from workbench.domain.note import Note
from workbench.domain.record import Stamp
from workbench.domain.trimming import Trim
from workbench.store import Workspace
from workbench.store.form import digest
from workbench.store.mask import mask, mask_json
from workbench.store.trust import TrustStore

BODY = "a1B2c3D4e5F6g7H8i9J0"  # letters and digits that no rule knows by itself


def jwt() -> str:
    parts = [base64.urlsafe_b64encode(json.dumps({"n": n, "who": "x"}).encode()).decode().rstrip("=") for n in (1, 2)]
    return ".".join([*parts, BODY])


SECRETS = {
    "github": "ghp_" + BODY * 2,
    "github app": "ghs_" + BODY * 2,
    "github fine": "github_pat_" + BODY + "_" + BODY * 2,
    "gitlab": "glpat-" + BODY,
    "openai": "sk-" + BODY * 2,
    "openai project": "sk-proj-" + BODY + "_" + BODY,
    "anthropic": "sk-ant-api03-" + BODY * 2,
    "stripe": "sk_live_" + BODY,
    "slack": "xoxb-1234567890-" + BODY,
    "aws": "AKIA" + "ABCD1234" * 2,
    "google": "AIza" + (BODY * 2)[:35],
    "npm": "npm_" + (BODY * 2)[:36],
    "jwt": jwt(),
    "key": "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n" + BODY + "\n-----END RSA PRIVATE KEY-----",
    "open key": "-----BEGIN PRIVATE KEY-----\nMIIB" + BODY,
}

AROUND = {
    'password = "hunter2x"': "hunter2x",
    "DB_PASSWORD=s3cretvalue": "s3cretvalue",
    "export API_KEY='abc123def456'": "abc123def456",
    '{"client_secret": "q9w8e7r6t5"}': "q9w8e7r6t5",
    '{\\"password\\": \\"hunter2x\\"}': "hunter2x",
    "postgres://app:p4ssw0rd@db.example/x": "p4ssw0rd",
    "redis://:onlypass1@host:6379": "onlypass1",
    "Authorization: Bearer abcdefgh12345678": "abcdefgh12345678",
    "curl -H 'authorization: Basic dXNlcjpwYXNz'": "dXNlcjpwYXNz",
    "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY": "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY",
}

LOOKALIKES = (
    "commit 0123456789abcdef0123456789abcdef01234567",
    "sha256:" + "0f" * 32,
    "id 6fa459ea-ee8a-3ca4-894e-db77e160355e",
    "the password field is required",
    "forgot password: see the help page",
    "a task-list of sk-learn and ghp_ prefixes",
    'token = os.environ["TOKEN"]',
    "password: str",
    "password = get_password(user)",
    "api_key: ${API_KEY}",
    "secret_key = settings.SECRET_KEY",
    "max_tokens: 200000",
    "token: 123456",
    "tokens = count(text)",
    "https://example.org/a:b@c",
    "http://localhost:8080/@scope/name",
    "git@github.com:owner/repo.git",
    "key: value",
    "bearer of good news",
    "password:\nusername: bob42xyz",
    "sk-learn-contrib-some-very-long-package-name-v2",
    "sort key = name, then id",
)


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_known_forms_go_and_the_text_around_stays(name: str) -> None:
    secret = SECRETS[name]
    for before, after in (("use ", " now"), ('x("', '")'), ("", ""), ("<", ">")):
        masked = mask(before + secret + after)
        assert BODY not in masked
        assert "masked:" in masked
        assert masked.startswith(before)
        assert masked.endswith(after) or name == "open key"
        assert mask(masked) == masked


@pytest.mark.parametrize("text", sorted(AROUND))
def test_assigned_values_go(text: str) -> None:
    masked = mask(text)
    assert AROUND[text] not in masked
    assert masked.replace("«", "").startswith(text[:4])
    assert mask(masked) == masked


@pytest.mark.parametrize("text", LOOKALIKES)
def test_lookalikes_stay(text: str) -> None:
    assert mask(text) == text


def test_shared_lookalikes_stay(shared_dir: Path) -> None:
    for line in (shared_dir / "cases" / "must_not_be_redacted.txt").read_text().splitlines():
        assert mask(line) == line


@settings(max_examples=50)
@given(st.text(max_size=300))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    assert mask(mask(text)) == mask(text)


def test_json_values() -> None:
    value = {"password": "hunter2", "n": 1, "list": [SECRETS["github"]], SECRETS["slack"]: True, "token": None}
    masked = mask_json(value)
    assert BODY not in json.dumps(masked)
    assert "hunter2" not in json.dumps(masked)
    assert (masked["n"], masked["token"]) == (1, None)


def test_long_texts_take_no_long_time() -> None:
    for text in (
        "a-" * 100_000,
        "A" * 300_000,
        "password=" * 30_000,
        "://:" * 50_000,
        "-----BEGIN " * 20_000,
        "eyJ" * 99_999,
    ):
        mask(text)


def test_no_secret_comes_through_any_door(workspace: Workspace, tmp_path: Path) -> None:
    secret = SECRETS["github"]
    task = make_task(f"use {secret}")
    package = envelope(task.id).with_(content={"items": [secret]})
    with workspace.transaction(PERSON, f"fact propose k {secret}", f"because {secret}") as tx:
        returned = tx.put(task)
        tx.put(make_fact("db.password", "hunter2x", statement=secret))
        tx.put(make_fact(f"k.{secret}", {"deep": [secret]}))
        tx.put(Note(id=new_id(), key="n", value=secret, written=Stamp(by=PERSON, at=AT)))
        tx.append_evidence(
            Evidence(id=new_id(), kind="command", task=task.id, excerpt=secret, argv=("x", secret), at=AT)
        )
        tx.append_trim(f"claude:{secret}", Trim(id=new_id(), act="drop", messages=(), by=PERSON, at=AT, text=secret))
        tx.add_package(package, f"prompt {secret}\n".encode(), event(why=secret))
        blob = tx.put_blob(secret.encode())
        binary = tx.put_blob(b"\xff\x00" + secret.encode() + b"\xfe")
    workspace.local.set("scratch", {"x": secret})
    workspace.db.table("facts").insert({"key": "t", "value": secret})
    TrustStore(tmp_path / "data").grant(f"run {secret}", "f" * 64)
    assert secret not in returned.title
    stored = workspace.load().packages[package.id]
    assert digest(workspace.prompt(package.id)) == stored.envelope.prompt_sha256
    assert b"masked:github" in workspace.blob(blob)
    assert workspace.blob(binary).startswith(b"\xff\x00")
    assert workspace.load().damaged == ()
    for root in (workspace.root, tmp_path / "data"):
        for path in root.rglob("*"):
            assert BODY not in path.name
            assert path.is_dir() or BODY.encode() not in path.read_bytes(), path
            assert path.is_dir() or b"hunter2x" not in path.read_bytes(), path
