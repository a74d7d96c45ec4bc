"""``workbench doctor``, ``gc`` and ``purge``: looking the workspace over, clearing up, taking a secret out."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.call import Call
from workbench.cli.output import Answer, Line, Span
from workbench.cli.spec import WHY, Command, flag, option, word
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.store.examine import Check

_KEYS = "checks[]{name,ok,detail,path,line,column}"
_HUMAN = "5 a person is needed, or did not agree"
COMMANDS = (
    Command(
        "doctor",
        "check the workspace, and repair it when asked",
        "Checks modes, file system, lock, journal, records, packages and contents, and says of each whether it is "
        "well, with file, line and column where something cannot be read. With --fix it completes what was "
        "acknowledged, moves damaged bytes to .local/quarantine and restores the last acknowledged version from the "
        "log, naming source, time and what is missing; a person's act. With --bundle it writes a masked archive for "
        "a bug report: the checks, the list of files, the log without what it says, and damaged files.",
        (
            flag("--fix", help="repair; nothing else ever moves a damaged file"),
            option("--bundle", value="F", help="write a masked archive for a bug report to a new file"),
        ),
        exits=("5 a person is needed for --fix", "6 something is not well and was not repaired"),
        keys=f"{_KEYS}, done[] (with --fix), bundle[] (with --bundle)",
        examples=("workbench doctor", "workbench doctor --fix", "workbench doctor --bundle report.zip"),
        run="care:doctor",
    ),
    Command(
        "gc",
        "remove contents that nothing refers to",
        "Removes from blobs/ what no record, trim, package or history refers to, and says how much that freed. "
        "A person's act.",
        exits=("5 a person is needed",),
        keys=_KEYS,
        run="care:gc",
    ),
    Command(
        "purge",
        "remove a leaked secret, or a record, for good",
        "The one deletion there is: rewrites every file beneath the workspace that holds the record or the secret "
        "(records, log, packages, contents, quarantine, index) and your own prompts and caches; the log keeps that "
        "something was purged, by whom, when and why. A secret is found as it is, behind the escapes of JSON, of "
        "addresses and of markup, in base64 (on one line) and in UTF-16; not where it was split, compressed, "
        "encrypted or encoded otherwise: compressed contents are named. Session files of agents are not touched, other "
        "copies of the workspace neither. A person's act; asks on the terminal unless --yes.",
        (
            word("RECORD", "the record to purge: an id prefix, or KIND/ID", optional=True),
            option("--secret", value="S", help="a secret to remove wherever it stands; - reads it from standard input"),
            WHY,
        ),
        exits=("3 no such record, or the secret stands nowhere", _HUMAN),
        keys=_KEYS,
        examples=("workbench purge --secret - < leaked.txt", "workbench purge facts/3f8k2m9x0q"),
        run="care:purge",
    ),
)  # fmt: skip


def doctor(call: Call) -> Answer:
    """Checks, repair, bundle."""
    from workbench.services import care

    context = call.context(read_only=not call.args.fix)
    document: dict[str, Any] = {}
    lines: list[Line] = []
    if call.args.fix:
        done, checks = care.doctor_fix(context)
        document["done"] = _rows(done)
        lines += _lines(done)
    else:
        checks = care.doctor(context)
    document["checks"] = _rows(checks)
    lines += _lines(checks)
    if call.args.bundle is not None:
        path = call.cwd / Path(call.args.bundle).expanduser()
        document["bundle"] = care.bundle(context, path)
        lines.append(f"written: {path}")
    well = all(check.ok for check in checks)
    notes = [] if well or call.args.fix else ["repair with: workbench doctor --fix"]
    return Answer(document, lines, 0 if well else 6, notes)


def gc(call: Call) -> Answer:
    """Contents that nothing refers to."""
    from workbench.services import care

    checks = [care.gc(call.context())]
    return Answer({"checks": _rows(checks)}, _lines(checks))


def purge(call: Call) -> Answer:
    """A record or a secret."""
    from workbench.services import care

    secret, record, why = call.args.secret, call.args.record, call.args.why or ""
    if (secret is None) == (record is None):
        raise UsageError("name a record, or give --secret", "see: workbench purge --help")
    context = call.context()
    if record is not None:
        kind, identifier = care.find_purgeable(context, record)
        shown = ["This takes away for good, from the records and from the log:", f"  {kind}/{identifier}"]
        call.confirm(context, "purging a record", shown, typed="purge")
        checks = care.purge(context, kind, identifier, why)
    else:
        if secret == "-":
            secret = sys.stdin.read().strip("\r\n") if sys.stdin is not None else ""
        shown = ["This replaces the secret for good wherever it stands: records, log, packages, contents."]
        call.confirm(context, "purging a secret", shown, typed="purge")
        checks = care.purge_text(context, secret, why)
    return Answer({"checks": _rows(checks)}, _lines(checks))


def _rows(checks: Iterable[Check]) -> list[dict[str, Any]]:
    from workbench.services.shapes import check_json

    return [check_json(check) for check in checks]


def _lines(checks: Iterable[Check]) -> list[Line]:
    return [
        [Span("ok " if check.ok else "BAD", "good" if check.ok else "bad"), f" {check.name}: {check.detail}"]
        for check in checks
    ]
