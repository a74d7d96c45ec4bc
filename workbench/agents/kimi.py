"""Kimi: takes no first prompt with a terminal, and ignores standard input without one."""

from __future__ import annotations

from workbench.agents.program import AgentProgram, LaunchInput, LaunchLine


class Kimi(AgentProgram):
    """Kimi's command lines."""

    def interactive(self, plan: LaunchInput) -> LaunchLine:
        """Started plainly; the sentence has to be pasted."""
        return LaunchLine(self.start, paste=plan.first_prompt)

    def headless(self, plan: LaunchInput) -> LaunchLine:
        """The sentence as an argument, which names the prompt file: long text has no other way in."""
        return LaunchLine((*self.start, "-p", plan.first_prompt, "--output-format", "stream-json"))


KIMI = Kimi(
    name="kimi",
    title="Kimi Code",
    leave="/exit",
    executables=("kimi",),
    process_names=("kimi", "/@moonshot-ai/kimi-code/"),
)
