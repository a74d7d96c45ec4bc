"""Codex: its terminal program leaves a background process behind unless told not to."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.agents.program import AgentProgram, LaunchInput, LaunchLine

_NO_DAEMON = "--no-daemon"


@dataclass(frozen=True, kw_only=True)
class Codex(AgentProgram):
    """Codex's command lines."""

    def interactive(self, plan: LaunchInput) -> LaunchLine:
        """Without the daemon that would outlive the session; older versions have neither daemon nor option."""
        has_option = plan.options is None or _NO_DAEMON in plan.options
        return LaunchLine((*self.start, *((_NO_DAEMON,) if has_option else ()), plan.first_prompt))

    def headless(self, plan: LaunchInput) -> LaunchLine:
        """``exec`` with ``-``: the prompt is read from standard input."""
        return LaunchLine((*self.start, "exec", "--json", "-C", str(plan.cwd), "-"), stdin_prompt=True)


CODEX = Codex(
    name="codex",
    title="Codex",
    executables=("codex",),
    window=272_000,
    estimated=False,
    marks=("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI"),
    process_names=("codex", "/@openai/codex/"),
)
