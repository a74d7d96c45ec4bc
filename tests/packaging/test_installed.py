"""Themes and samples come along, whichever way the program is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("themes", "sample_workspaces")
PROBE = """
import json, pathlib, sys
import workbench
from workbench.resources import data_folder
from workbench.services.demo import names
found = {name: data_folder(name) for name in sys.argv[1:]}
print(json.dumps({
    "package": workbench.__file__,
    "typed": pathlib.Path(workbench.__file__).with_name("py.typed").is_file(),
    "folders": {name: str(folder) for name, folder in found.items()},
    "files": {n: sorted(p.relative_to(f).as_posix() for p in f.rglob("*") if p.is_file()) for n, f in found.items()},
    "samples": names(),
}))
"""

pytestmark = pytest.mark.packaging


class Installation:
    """A virtual environment of its own; what the program depends on it takes from the running one."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.folder = folder
        self.python = folder / "bin" / "python"
        [site] = folder.glob("lib/python*/site-packages")
        # Sorted after whatever an installation adds, so that the program under test is found first.
        running = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
        (site / "zz_running_environment.pth").write_text("\n".join(running) + "\n")

    def run(self, *words: str) -> str:
        env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PIP_NO_INDEX": "1"}
        done = subprocess.run(words, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def install(self, *what: str) -> None:
        pip = (sys.executable, "-m", "pip", "--python", str(self.python), "--quiet", "--disable-pip-version-check")
        self.run(*pip, "install", "--no-deps", "--no-build-isolation", "--ignore-installed", *what)

    def probe(self) -> dict[str, object]:
        """What the installed program finds, asked from a folder that is not the checkout."""
        answer: dict[str, object] = json.loads(self.run(str(self.python), "-c", PROBE, *FOLDERS))
        return answer


def source_files() -> dict[str, list[str]]:
    return {
        name: sorted(p.relative_to(ROOT / name).as_posix() for p in (ROOT / name).rglob("*") if p.is_file())
        for name in FOLDERS
    }


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "venv")


def assert_complete(found: dict[str, object], beneath: Path) -> None:
    assert Path(str(found["package"])).resolve().is_relative_to(beneath)
    for folder in found["folders"].values():  # type: ignore[attr-defined]
        assert Path(folder).resolve().is_relative_to(beneath)
    assert found["files"] == source_files()
    assert found["samples"]
    assert found["typed"]


def test_themes_and_samples_are_found_after_an_installation(installation: Installation) -> None:
    installation.install(str(ROOT))
    assert_complete(installation.probe(), installation.folder.resolve())


def test_themes_and_samples_are_found_after_an_editable_installation(installation: Installation) -> None:
    installation.install("--editable", str(ROOT))
    assert_complete(installation.probe(), ROOT)


def test_themes_and_samples_are_found_after_an_installation_from_the_wheel(
    installation: Installation, tmp_path: Path
) -> None:
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "dist"))
    installation.run(*build, str(ROOT))
    [wheel] = (tmp_path / "dist").glob("*.whl")
    installation.install(str(wheel))
    assert_complete(installation.probe(), installation.folder.resolve())
    assert (installation.folder / "bin" / "workbench").is_file()
