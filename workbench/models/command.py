"""A model behind a program's command line, such as an agent's own; its command stands in the user's file only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.models.model import Answered, ModelError, NotAskedError, token_count

PROMPT = "{prompt}"
"""Stands for the question in a word of the command; without it the question goes to standard input."""
LARGEST = 4 << 20
_TEXTS = ("result", "response", "content", "text")
"""Under these names programs that print JSON put what the model said."""


@dataclass(frozen=True)
class CommandModel:
    """Runs a program for each question, in an empty folder, without a shell and without a terminal."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    timeout: float = 60.0

    @property
    def name(self) -> str:
        """The program's name."""
        return Path(self.argv[0]).name

    @property
    def where(self) -> str:
        """The program."""
        return self.argv[0]

    def ask(self, system: str, text: str, schema: Mapping[str, Any]) -> Answered:
        """See :meth:`Model.ask`; the schema goes into the question."""
        form = json.dumps(schema, ensure_ascii=False)
        prompt = f"{system}\n\nAnswer with one JSON document of this schema and nothing else:\n{form}\n\n{text}"
        argv = [word.replace(PROMPT, prompt) for word in self.argv]
        given = None if any(PROMPT in word for word in self.argv) else prompt.encode()
        output, code = self._run(argv, given)
        if code:
            raise ModelError(f"{self.where} ended with exit code {code}")
        return _answered(output.decode("utf-8", "replace"))

    def _run(self, argv: list[str], given: bytes | None) -> tuple[bytes, int]:
        with tempfile.TemporaryDirectory(prefix="workbench-model-") as folder, tempfile.TemporaryFile() as out:
            try:
                process = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
                    stdout=out,
                    stderr=subprocess.DEVNULL,
                    cwd=folder,
                    env=dict(self.env),
                    start_new_session=True,
                )
            except (OSError, ValueError) as problem:
                reason = problem.strerror if isinstance(problem, OSError) else str(problem)
                raise NotAskedError(f"{self.where} cannot be started: {reason}") from None
            try:
                process.communicate(given, timeout=self.timeout)
            except subprocess.TimeoutExpired:
                raise ModelError(f"{self.where} gave no answer within {self.timeout:g} s") from None
            finally:
                # Whatever it started ends with the question.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            out.seek(0)
            return out.read(LARGEST), process.returncode


def _answered(text: str) -> Answered:
    """What the model said, also where the program wraps it into a JSON document of its own."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return Answered(text)
    if not isinstance(document, dict):
        return Answered(text)
    said = next((document[name] for name in _TEXTS if isinstance(document.get(name), str)), text)
    usage = document.get("usage")
    if not isinstance(usage, dict):
        return Answered(said)
    return Answered(said, token_count(usage.get("input_tokens")), token_count(usage.get("output_tokens")))
