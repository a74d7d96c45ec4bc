"""Configuration: precedence, what is wrong is said with its place, and what only the person may set."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config import Config, load_config, user_dirs
from workbench.config.places import key_lines
from workbench.errors import DamagedError, UsageError


class Files:
    """A user's file and a workspace's file."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repo" / ".workbench"
        self.root.mkdir(parents=True)
        self.own = folder / "config" / "config.toml"
        self.own.parent.mkdir()
        self.env = {"HOME": str(folder), "WORKBENCH_CONFIG_DIR": str(self.own.parent)}

    def user(self, text: str) -> Files:
        self.own.write_text(text, "utf-8")
        return self

    def workspace(self, text: str) -> Files:
        (self.root / "workspace.toml").write_text(text, "utf-8")
        return self

    def load(self, **env: str) -> Config:
        return load_config(self.root, self.env | env)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_without_files_the_defaults_hold(files: Files) -> None:
    config = files.load()
    assert (config.budget.tokens, config.budget.share, config.budget.margin) == (6000, 0.05, 0.10)
    assert config.review_after["decision"] == 90
    assert config.review_after["constraint"] is None
    assert config.warnings == ()
    assert config == load_config(None, files.env)


def test_environment_over_user_over_workspace_over_default(files: Files) -> None:
    files.workspace('[budget]\ntokens = 1\nshare = 0.5\n[app]\ntheme = "w"\n[user]\nname = "w"\n')
    assert files.load().budget.tokens == 1
    files.user("[budget]\ntokens = 2\n")
    assert files.load().budget.tokens == 2
    assert files.load(WORKBENCH_BUDGET="3").budget.tokens == 3
    assert files.load().budget.share == 0.5
    assert files.load(WORKBENCH_THEME="e", WORKBENCH_USER="e").theme == "e"
    assert files.load(WORKBENCH_USER="e").user_name == "e"


def test_a_nonsensical_environment_is_said_and_ignored(files: Files) -> None:
    config = files.load(WORKBENCH_BUDGET="many")
    assert config.budget.tokens == 6000
    assert "WORKBENCH_BUDGET" in config.warnings[0]


def test_tables_merge_key_by_key(files: Files) -> None:
    files.workspace("[budget.reserves]\nsystem = 1\ntools = 2\n[facts.review_after]\ndecision = 10\nversion = 5\n")
    files.user('[budget.reserves]\ntools = 3\n[facts.review_after]\ndecision = "2w"\nnumber = "never"\n')
    config = files.load()
    assert dict(config.budget.reserves) == {"system": 1, "tools": 3}
    assert [config.review_after[k] for k in ("decision", "version", "number")] == [14, 5, None]


def test_an_unknown_key_is_a_warning_with_file_line_and_nearest_key(files: Files) -> None:
    files.user('# mine\n[user]\nname = "Ada"\n\n[app]\ntheem = "x"\n')
    config = files.load()
    assert config.user_name == "Ada"
    assert config.warnings == (f"{files.own}:6: unknown key 'app.theem' (nearest known key: 'app.theme')",)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[app]\ntheme = """\na\nb"""\nmous = true\n', 5, "app.mouse"),
        ("[app]\nkeymap = {\n}\n".replace("\n}", " }") + "mous = 1\n", 3, "app.mouse"),
        ('[watch]\nignore = [\n  "a", # [\n  "]",\n]\npol = true\n', 6, "watch.poll"),
        ("app.mous = true\n", 1, "app.mouse"),
        ('["app"]\n"mous" = true\n', 2, "app.mouse"),
        ("[agents.mine]\ncomand = []\n", 2, "agents.mine.command"),
        ('[[guidelines]]\ntext = "a"\n[[guidelines]]\ntext = "b"\nscop = "x"\n', 5, "guidelines.scope"),
        ("[budgets]\ntokens = 1\n", 1, "budget"),
        ("agents = { mine = { windw = 1 } }\n", 1, "agents.mine.window"),
        ("\r\n[app]\r\nmous = 1\r\n", 3, "app.mouse"),
    ],
)
def test_the_line_is_right_whatever_stands_before(files: Files, text: str, line: int, said: str) -> None:
    (warning,) = files.user(text).load().warnings
    assert warning.startswith(f"{files.own}:{line}: unknown key")
    assert f"'{said}'" in warning


def test_a_wrong_type_is_said_and_the_default_holds(files: Files) -> None:
    config = files.user('[app]\nmouse = "yes"\n[budget]\ntokens = -1\nshare = true\n[watch]\nignore = "x"\n').load()
    assert config.mouse is True
    assert config.budget.tokens == 6000
    assert [w.split(":")[1] for w in config.warnings] == ["2", "4", "5", "7"]
    assert "wants" in config.warnings[0]


def test_what_would_run_or_read_comes_from_the_users_file_only(files: Files) -> None:
    files.workspace(
        '[agents.evil]\ncommand = ["rm", "-rf", "x"]\nwindow = 9\nsessions = "/etc"\n'
        '[model]\nbase_url = "http://elsewhere.invalid"\ncommand = ["sh"]\n'
    )
    config = files.load()
    assert config.agents["evil"].command is None
    assert config.agents["evil"].sessions is None
    assert config.agents["evil"].window == 9
    assert config.model.base_url is None
    assert len(config.warnings) == 4
    files.user('[agents.evil]\ncommand = ["mine"]\n')
    assert files.load().agents["evil"].command == ("mine",)


def test_roles_and_guidelines_are_records_with_stable_ids(files: Files) -> None:
    files.workspace(
        '[roles.ui]\nresponsibility = "screens"\nmay = ["src/ui"]\n[[guidelines]]\ntext = "Prices in USD"\n'
    )
    files.user('[[guidelines]]\ntext = "Short answers"\nscope = "workspace"\n')
    one, two = files.load(), files.load()
    assert one.roles["ui"].may == ("src/ui",)
    assert [(g.text, g.origin) for g in one.guidelines] == [("Short answers", "user"), ("Prices in USD", "workspace")]
    assert one.guidelines == two.guidelines


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("[app]\ntheme = \n", 2, 9), ("a = 1\na = 2\n", 2, 6), ('[user]\nname = "x', 2, 10), ("a=" + "[" * 5000, 1, 5003)],
)
def test_a_broken_file_names_its_place(files: Files, text: str, line: int, column: int) -> None:
    with pytest.raises(UsageError) as user:
        files.user(text).load()
    assert f"{files.own}:{line}:{column}:" in user.value.message
    assert user.value.details["line"] == line
    files.user("")
    with pytest.raises(DamagedError) as shared:
        files.workspace(text).load()
    assert f"workspace.toml:{line}:{column}:" in shared.value.message
    assert shared.value.exit_code == 6


def test_a_file_that_is_no_unicode_names_its_place(files: Files) -> None:
    files.own.write_bytes(b'[user]\nname = "\xff"\n')
    with pytest.raises(UsageError, match=r"config\.toml:2:9: not UTF-8"):
        files.load()


def test_the_users_folders_follow_the_environment() -> None:
    home = user_dirs({"HOME": "/home/ada", "XDG_CACHE_HOME": "/big/cache", "XDG_DATA_HOME": "relative"})
    assert home.cache == Path("/big/cache/workbench")
    own = user_dirs({"HOME": "/home/ada", "WORKBENCH_STATE_DIR": "/state/here", "XDG_STATE_HOME": "/other"})
    assert own.state == Path("/state/here")
    assert str(home.data).startswith("/home/ada") or "Library" in str(home.data)


KEYS = st.text("abcdefgh", min_size=1, max_size=6)
VALUES = st.sampled_from(
    ["1", '"x"', "'a # ['", '"""\n] } # "\n"""', "'''\n{ ['\n'''", '[1, "]", [2]]', "[\n # ]\n 1,\n]", '{ x = "}" }',
     '"\\"#["', "2026-01-01T00:00:00Z"]
)  # fmt: skip


@given(st.lists(st.tuples(KEYS, VALUES, st.booleans()), max_size=8, unique_by=lambda row: row[0]))
def test_the_scanner_finds_the_line_of_every_key(rows: list[tuple[str, str, bool]]) -> None:
    text, wanted = "", {}
    for number, (key, value, header) in enumerate(rows):
        path = (f"t{number}", key) if header else ("root", f"{number}", key)
        text += f"# {key} = [\n"
        if header:
            text += f"[t{number}]\n"
            wanted[path] = text.count("\n") + 1
            text += f"{key} = {value} # ]\n"
        else:
            text += f"[root.{number}]\n"
            wanted[path] = text.count("\n") + 1
            text += f"  {key}={value}\n\n"
    places = key_lines(text)
    assert {path: places[path] for path in wanted} == wanted
