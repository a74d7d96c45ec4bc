"""Agent programs that the person defined: ``[agents.NAME] command = ["prog", "--flag", "{prompt}"]``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workbench.agents.program import AgentProgram, LaunchInput, LaunchLine

_PLACEHOLDER = re.compile(r"\{(prompt|prompt_file|prompt_folder)\}")


@dataclass(frozen=True, kw_only=True)
class CustomProgram(AgentProgram):
    """A command line with placeholders; an argument list, never a shell string."""

    template: tuple[str, ...]

    @staticmethod
    def has_placeholder(command: Iterable[str]) -> bool:
        """Whether any word of ``command`` holds ``{prompt}``, ``{prompt_file}`` or ``{prompt_folder}``."""
        return any(_PLACEHOLDER.search(word) for word in command)

    def interactive(self, plan: LaunchInput) -> LaunchLine:
        """Placeholders filled; without any, the sentence is appended."""
        words = self._filled(plan)
        return LaunchLine(words if self.has_placeholder(self.template) else (*words, plan.first_prompt))

    def headless(self, plan: LaunchInput) -> LaunchLine:
        """Placeholders filled, and the prompt's bytes on standard input."""
        return LaunchLine(self._filled(plan), stdin_prompt=True)

    def _filled(self, plan: LaunchInput) -> tuple[str, ...]:
        def fill(match: re.Match[str]) -> str:
            if match[1] == "prompt":
                return plan.first_prompt
            return str(plan.file if match[1] == "prompt_file" else plan.prompt_folder)

        first = str(Path(self.template[0]).expanduser()) if self.template[0].startswith("~/") else self.template[0]
        return (first, *(_PLACEHOLDER.sub(fill, word) for word in self.template[1:]))
