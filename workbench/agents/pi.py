"""pi: reads anywhere, takes its first prompt as an argument."""

from __future__ import annotations

from workbench.agents.program import AgentProgram, LaunchInput, LaunchLine


class Pi(AgentProgram):
    """pi's command lines."""

    def headless(self, plan: LaunchInput) -> LaunchLine:
        """Print mode; its exit code says nothing about model errors, so its events are asked for."""
        return LaunchLine((*self.start, "-p", "--mode", "json"), stdin_prompt=True)


PI = Pi(
    name="pi",
    title="pi",
    leave="/quit",
    executables=("pi",),
    marks=("PI_CODING_AGENT",),
    process_names=("pi", "/pi-coding-agent/"),
)
