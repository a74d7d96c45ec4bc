"""OpenCode: the folder it may read outside its own is allowed by configuration in the environment."""

from __future__ import annotations

import json
from collections.abc import Mapping

from workbench.agents.program import AgentProgram, LaunchInput, LaunchLine


class OpenCode(AgentProgram):
    """OpenCode's command lines."""

    def interactive(self, plan: LaunchInput) -> LaunchLine:
        """Started on its folder, with the sentence as its first prompt."""
        return LaunchLine((*self.start, str(plan.cwd), "--prompt", plan.first_prompt), env=self._env(plan))

    def headless(self, plan: LaunchInput) -> LaunchLine:
        """``run`` without a message reads standard input; a file given by ``-f`` would be cut at 50 KB."""
        argv = (*self.start, "run", "--format", "json", "--dir", str(plan.cwd))
        return LaunchLine(argv, env=self._env(plan), stdin_prompt=True)

    def _env(self, plan: LaunchInput) -> Mapping[str, str]:
        rule = {"permission": {"external_directory": {f"{plan.prompt_folder}/**": "allow"}}}
        return {"OPENCODE_CONFIG_CONTENT": json.dumps(rule)}


OPENCODE = OpenCode(
    name="opencode",
    title="OpenCode",
    leave="/exit",
    executables=("opencode",),
    marks=("OPENCODE", "OPENCODE_PID"),
    process_names=("opencode", "/opencode-ai/"),
)
