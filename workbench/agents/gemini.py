"""Gemini CLI, and Qwen Code which descends from it."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.agents.program import AgentProgram, LaunchInput, LaunchLine


@dataclass(frozen=True, kw_only=True)
class Gemini(AgentProgram):
    """``-i SENTENCE`` starts a conversation; headless the prompt is read from standard input."""

    asks_outside: bool = False
    """It refuses files outside its folder unless their folder is named."""

    def interactive(self, plan: LaunchInput) -> LaunchLine:
        """With the prompt's folder included where the program would refuse to read it."""
        return LaunchLine((*self.start, *self._folder(plan), "-i", plan.first_prompt))

    def headless(self, plan: LaunchInput) -> LaunchLine:
        """Events as they come."""
        return LaunchLine((*self.start, *self._folder(plan), "-o", "stream-json"), stdin_prompt=True)

    def _folder(self, plan: LaunchInput) -> tuple[str, ...]:
        return ("--include-directories", str(plan.prompt_folder)) if self.asks_outside else ()


GEMINI = Gemini(
    name="gemini",
    title="Gemini CLI",
    leave="/quit",
    executables=("gemini",),
    window=1_048_576,
    marks=("GEMINI_CLI",),
    process_names=("gemini", "/@google/gemini-cli/"),
    asks_outside=True,
)
QWEN = Gemini(
    name="qwen",
    title="Qwen Code",
    leave="/quit",
    executables=("qwen",),
    marks=("QWEN_CODE", "QWEN_CODE_SESSION_ID"),
    process_names=("qwen", "/@qwen-code/qwen-code/"),
)
