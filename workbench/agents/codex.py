"""Codex: its terminal program leaves a background process behind unless told not to."""

from __future__ import annotations

from workbench.agents.program import AgentProgram, LaunchInput, LaunchLine


class Codex(AgentProgram):
    """Codex's command lines."""

    def interactive(self, plan: LaunchInput) -> LaunchLine:
        """Without the daemon that would outlive the session; ``exec`` starts none and has no such option."""
        return LaunchLine((*self.start, "--no-daemon", plan.first_prompt))

    def headless(self, plan: LaunchInput) -> LaunchLine:
        """``exec`` with ``-``: the prompt is read from standard input."""
        return LaunchLine((*self.start, "exec", "--json", "-C", str(plan.cwd), "-"), stdin_prompt=True)


CODEX = Codex(
    name="codex",
    title="Codex",
    leave="/quit",
    executables=("codex",),
    window=272_000,
    estimated=False,
    marks=("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI"),
    process_names=("codex", "/@openai/codex/"),
)
