"""``workbench extract --model``: what a model may add, what of its answers counts, and every way it can fail."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.models import breaks_off, completion, drips, endpoint, hangs, items, says
from tests.cli.test_extract import registry, session_file
from workbench.extraction import Extractor


def left_open(*candidates: str) -> str:
    """The first sentence in which the rules, as they are now, see neither a statement nor process."""
    extractor = Extractor()
    return next(text for text in candidates if extractor.undecided(text))


ORANGE = left_open(
    "Everyone in the room fell for the orange icon.",
    "Somehow the orange icon went to sleep among the green ones.",
    "Turns out the orange icon keeps winning for whoever looks nicely.",
)
GATEWAY = left_open(
    "Somehow the orange gateway ended up with 5173, sigh.",
    "The orange gateway somehow ended up with 5173.",
    "Funny how the orange gateway likes 5173 so much.",
)
DENIED = left_open(
    "Somehow it is far from true that the gateway likes 5173.",
    "Funny that nobody ever says the gateway likes 5173, sigh.",
    "Hardly anybody in the room would think the gateway likes 5173.",
)
NOTES = f"""decided: REST for v1
Somehow the blue icon went to sleep among the others.
{ORANGE}
we considered GraphQL
Would Postgres be enough?
"""
USAGE = {"prompt_tokens": 321, "completion_tokens": 45}


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: Any) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "notes.md"
    path.write_text(NOTES, "utf-8")
    return path


def env(url: str, **more: str) -> dict[str, str]:
    return {"WORKBENCH_MODEL_BASE_URL": url, "WORKBENCH_MODEL": "tiny-1", **more}


def test_without_an_endpoint_the_rules_go_on_alone_and_say_so(run: Any, notes: Path) -> None:
    result = run("extract", str(notes), "--model", "--json")
    assert result.code == 0
    assert "the model layer is off" in result.err
    assert result.json["model"] == "off"
    assert [row["text"] for row in result.json["decisions"]] == ["decided: REST for v1"]


def test_only_what_the_rules_leave_open_is_asked_about(run: Any, notes: Path) -> None:
    with endpoint(says(completion(items()))) as served:
        assert run("extract", str(notes), "--model", env=env(served.url)).code == 0
        asked = served.sentences()
    assert ORANGE in asked
    assert not [text for text in asked if "REST" in text or "GraphQL" in text or "Postgres" in text]
    assert served.requests[0]["path"] == "/v1/chat/completions"
    assert served.requests[0]["response_format"]["json_schema"]["schema"]["required"] == ["items"]


def test_a_find_is_marked_with_the_model_and_quoted_and_its_cost_is_said_before_and_after(
    run: Any, notes: Path
) -> None:
    answer = completion(items((1, "fact", ORANGE, None, None)), usage=USAGE)
    with endpoint(says(answer)) as served:
        result = run("extract", str(notes), "--model", "--json", env=env(served.url))
        number = served.sentences().index(ORANGE) + 1
        served.replies = [says(completion(items((number, "fact", ORANGE, None, None)), usage=USAGE))]
        result = run("extract", str(notes), "--model", "--json", env=env(served.url))
    (found,) = [row for row in result.json["facts"] if row["model"]]
    assert (found["quote"], found["model"], found["source"]["line"]) == (ORANGE, "tiny-1", 3)
    model = result.json["model"]
    assert model["tokens"]["estimated"] > 0
    assert (model["tokens"]["in"], model["tokens"]["out"], model["tokens"]["basis"]) == (321, 45, "model")
    before, after = result.err.index("asking tiny-1 at 127.0.0.1"), result.err.index("321 tokens in, 45 out")
    assert before < after


REFUSED = {
    "not in the source": ((1, "fact", f"{ORANGE[:-1]} for Cloudflare", None, None), "not in the sentence"),
    "another sentence": ((9, "fact", ORANGE, None, None), "no such sentence"),
    "no kind": ((1, "rumour", ORANGE, None, None), "no such kind"),
    "nothing": ((1, "fact", ORANGE.split()[-1], None, None), "says nothing alone"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_item_that_is_not_literal_is_refused(run: Any, notes: Path, case: str) -> None:
    row, why = REFUSED[case]
    notes.write_text(f"{ORANGE}\n", "utf-8")
    with endpoint(says(completion(items(row)))) as served:
        result = run("extract", str(notes), "--model", "--json", env=env(served.url))
    assert result.code == 0
    assert result.json["facts"] == []
    assert why in result.json["model"]["refused"][0]["why"]


SAID_BY_OTHERS = (
    ("The wiki page says “the orange thing is always switched on at night” somewhere.", "always switched on at night"),
    ("他的文档里写着“橙色的那个东西晚上一定要打开才行”那样。", "橙色的那个东西晚上一定要打开才行"),
)


@pytest.mark.parametrize(("sentence", "quote"), SAID_BY_OTHERS)
def test_the_words_of_others_do_not_become_a_find(run: Any, notes: Path, sentence: str, quote: str) -> None:
    notes.write_text(f"{ORANGE}\n{sentence}\n", "utf-8")
    rows = [(number, "fact", quote, None, None) for number in (1, 2)]
    with endpoint(says(completion(items(*rows)))) as served:
        result = run("extract", str(notes), "--model", "--json", env=env(served.url))
    assert not [row for row in result.json["facts"] if row["model"]]


@pytest.mark.parametrize(
    ("sentence", "value", "read"),
    [
        (GATEWAY, "5173", ("gateway.port", "5173")),
        (GATEWAY, "8080", (None, None)),
        (GATEWAY, "", (None, None)),
        (DENIED, "5173", (None, None)),
    ],
)
def test_a_key_counts_only_where_its_value_stands_there_and_is_not_denied(
    run: Any, notes: Path, sentence: str, value: str, read: tuple[str | None, str | None]
) -> None:
    notes.write_text(f"{sentence}\n", "utf-8")
    with endpoint(says(completion(items((1, "fact", sentence, "gateway.port", value))))) as served:
        result = run("extract", str(notes), "--model", "--json", env=env(served.url))
    (row,) = [row for row in result.json["facts"] if row["model"]]
    assert (row["key"], row["value"]) == read


def test_a_quotation_cannot_leave_its_denial_behind(run: Any, notes: Path) -> None:
    quote = "the gateway likes 5173"
    notes.write_text(f"{DENIED}\n", "utf-8")
    with endpoint(says(completion(items((1, "fact", quote, "gateway.port", "5173"))))) as served:
        result = run("extract", str(notes), "--model", "--json", env=env(served.url))
    (row,) = [row for row in result.json["facts"] if row["model"]]
    assert (row["text"], row["key"]) == (DENIED, None)


def test_what_was_sent_in_vain_is_booked(run: Any, notes: Path) -> None:
    with endpoint(says({"error": "slow down"}, 429, Retry_After="0.01")) as served:
        result = run("extract", str(notes), "--model", "--json", env=env(served.url))
    model = result.json["model"]
    assert model["requests"] == len(served.requests) == 2
    assert model["tokens"]["in"] == 2 * model["tokens"]["estimated"]
    assert model["tokens"]["basis"] == "counted here"


FAILURES = {
    "hangs": (hangs, "no answer within"),
    "drips": (drips, "no answer within"),
    "breaks off": (breaks_off, "the connection broke"),
    "refused": (says(completion(None, refusal="I would rather not")), "refused to answer"),
    "filtered": (says(completion("", finish="content_filter")), "refused to answer"),
    "cut off": (says(completion('{"items": [', finish="length")), "cut off"),
    "empty": (says(completion(None)), "empty answer"),
    "prose": (says(completion("Sure! Here is what I think.")), "no list of items"),
    "wrong shape": (says(completion({"items": {"a": 1}})), "no list of items"),
    "deep": (says(completion("[" * 100_000)), "no list of items"),
    "no completion": (says({"ok": True}), "no chat completion"),
    "not JSON": (says(b"<html>"), "no chat completion"),
    "server error": (says({"error": {"message": "overloaded"}}, 500), "answered 500: overloaded"),
    "unknown key": (says({"error": {"message": "bad key"}}, 401), "answered 401: bad key"),
    "still busy": (says({"error": "slow down"}, 429, Retry_After="0.01"), "answered 429: slow down"),
    "redirect": (says(b"", 302, Location="http://127.0.0.1:1/v1"), "answered 302"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failing_model_ends_in_a_note_and_the_rules_finds_stand(run: Any, notes: Path, case: str) -> None:
    reply, said = FAILURES[case]
    _configure("[model]\ntimeout = 0.5\n")
    with endpoint(reply) as served:
        result = run("extract", str(notes), "--model", "--json", env=env(served.url))
    assert result.code == 0
    assert said in result.err
    assert said in " ".join(result.json["model"]["notes"])
    assert [row["text"] for row in result.json["decisions"]] == ["decided: REST for v1"]
    assert "Traceback" not in result.err


def test_nobody_there_is_a_note(run: Any, notes: Path) -> None:
    result = run("extract", str(notes), "--model", "--json", env=env("http://127.0.0.1:9/v1"))
    assert result.code == 0
    assert "cannot be reached" in result.err


def test_a_busy_endpoint_is_asked_once_more(run: Any, notes: Path) -> None:
    busy = says({"error": "slow down"}, 429, Retry_After="0.01")
    with endpoint(busy, says(completion(items(), usage=USAGE))) as served:
        result = run("extract", str(notes), "--model", "--json", env=env(served.url))
    assert len(served.requests) == 2
    assert result.json["model"]["notes"] == []


def test_an_endpoint_without_schemas_is_asked_without(run: Any, notes: Path) -> None:
    strict = says({"error": {"message": "response_format is not supported"}}, 400)
    with endpoint(strict, says(completion(items()))) as served:
        result = run("extract", str(notes), "--model", "--json", env=env(served.url))
    assert ["response_format" in request for request in served.requests] == [True, False]
    assert result.json["model"]["notes"] == []


@pytest.mark.parametrize("address", ["file:///etc/passwd", "http://[::1", "http://host:port/v1", "localhost:80"])
def test_an_address_that_is_none_is_wrong_usage(run: Any, notes: Path, address: str) -> None:
    result = run("extract", str(notes), "--model", "--json", env=env(address))
    assert result.code == 2
    assert "base_url" in result.error["message"]


def test_secrets_are_not_sent_and_the_key_goes_into_the_header_only(run: Any, notes: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    notes.write_text(f"The bot on the orange machine answers to {secret} nowadays.\n{ORANGE}\n", "utf-8")
    with endpoint(says(completion(items()))) as served:
        result = run("extract", str(notes), "--model", env=env(served.url, WORKBENCH_MODEL_KEY="sk-of-the-test"))
    sent = json.dumps(served.requests)
    assert secret not in sent
    assert "sk-of-the-test" not in sent + result.out + result.err
    assert served.headers[0]["Authorization"] == "Bearer sk-of-the-test"


def test_a_workspace_cannot_set_where_text_is_sent(run: Any, workspace: Path, tmp_path: Path) -> None:
    notes = tmp_path / "n.md"
    notes.write_text(NOTES, "utf-8")
    with endpoint(says(completion(items()))) as served:
        (workspace / "workspace.toml").write_text(f'[model]\nbase_url = "{served.url}"\nmodel = "x"\n', "utf-8")
        result = run("extract", str(notes), "--model")
    assert result.code == 0
    assert served.requests == []
    assert "the model layer is off" in result.err


def test_a_models_find_in_the_persons_words_neither_holds_as_hers_nor_challenges(
    run: Any, workspace: Path, tmp_path: Path
) -> None:
    task = run("task", "new", "Filter", "--objective", "a filter", "--yes", "--json").json["task"]["id"]
    assert run("fact", "propose", "gateway.port", "8080", "--yes").code == 0
    said = GATEWAY
    path = session_file(tmp_path, workspace.parent, [("user", said)])
    with endpoint(says(completion(items((1, "fact", said, "gateway.port", "5173")), usage=USAGE))) as served:
        result = run("extract", "--session", str(path), "--model", "--propose", task, "--json", env=env(served.url))
    assert result.code == 0, result.err
    facts = registry(workspace.parent)
    new = facts.facts[result.json["proposed"]["proposed"][0]]
    assert (new.trust, new.sources[0].model, new.sources[0].quote) == ("reported", "tiny-1", said)
    (old,) = [fact for fact in facts.facts.values() if fact.value == 8080]
    assert facts.lifecycle(old.id) == "active"
    assert "321 tokens in" in run("log", "--json").json["changes"][0]["why"]


@pytest.mark.parametrize("form", ["standard input", "a word", "wrapped"])
def test_a_command_line_can_be_the_model(run: Any, notes: Path, tmp_path: Path, form: str) -> None:
    program = tmp_path / "model.py"
    program.write_text(
        "import json, sys\n"
        "text = sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read()\n"
        "rows = [json.loads(row) for row in text.split('\\n') if row.startswith('{\"sentence\"')]\n"
        f"row, = [row for row in rows if row['text'] == {ORANGE!r}]\n"
        "item = {'sentence': row['sentence'], 'kind': 'fact', 'quote': row['text'], 'key': None, 'value': None}\n"
        "said = json.dumps({'items': [item]})\n"
        + (
            "print(json.dumps({'type': 'result', 'result': '```json\\n' + said + '\\n```',"
            " 'usage': {'input_tokens': 7, 'output_tokens': 3}}))\n"
            if form == "wrapped"
            else "print(said)\n"
        ),
        "utf-8",
    )
    words = [sys.executable, str(program), *(["{prompt}"] if form == "a word" else [])]
    _configure(f"[model]\ncommand = {json.dumps(words)}\n")
    result = run("extract", str(notes), "--model", "--json")
    assert [row["quote"] for row in result.json["facts"] if row["model"]] == [ORANGE]
    tokens = result.json["model"]["tokens"]
    assert (tokens["basis"], tokens["in"] == 7) == (("model", True) if form == "wrapped" else ("counted here", False))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([sys.executable, "-c", "import time; time.sleep(60)"], "no answer within"),
        ([sys.executable, "-c", "raise SystemExit(3)"], "exit code 3"),
        (["/no/such/program"], "cannot be started"),
        ([sys.executable, "-c", "print('no idea')"], "no list of items"),
    ],
)
def test_a_failing_command_ends_in_a_note(run: Any, notes: Path, words: list[str], said: str) -> None:
    _configure(f"[model]\ntimeout = 2\ncommand = {json.dumps(words)}\n")
    result = run("extract", str(notes), "--model", "--json")
    assert result.code == 0
    assert said in result.err


def _configure(text: str) -> None:
    from workbench.config import user_dirs

    path = user_dirs(os.environ).config / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_many_lines_are_not_for_a_model(run: Any, notes: Path) -> None:
    result = run("extract", "--jsonl", str(notes), "--model", "--json")
    assert result.code == 2


def test_the_scripted_model_server_is_understood(run: Any, notes: Path, shared_dir: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(shared_dir / "tools"))
    ScriptedModel = importlib.import_module("scripted_model").ScriptedModel

    notes.write_text(f"{ORANGE}\n", "utf-8")
    answer = json.dumps(items((1, "fact", ORANGE, None, None)))
    with ScriptedModel({"default": {"turns": [], "side": answer}}) as served:
        result = run("extract", str(notes), "--model", "--json", env=env(served.url("default") + "/v1"))
    assert result.err.count("asking tiny-1") == 1
    assert [row["model"] for row in result.json["facts"]] == ["tiny-1"], result.err
