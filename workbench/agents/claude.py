"""Claude Code: the launcher chooses the session id, and names the folder it may read outside its own."""

from __future__ import annotations

from workbench.agents.program import AgentProgram, LaunchInput, LaunchLine


class Claude(AgentProgram):
    """Claude Code's command lines."""

    def interactive(self, plan: LaunchInput) -> LaunchLine:
        """``--`` before the sentence, because ``--add-dir`` takes several values."""
        argv = (*self.start, *self._options(plan), "--", plan.first_prompt)
        return LaunchLine(argv, session_id=plan.session_id)

    def headless(self, plan: LaunchInput) -> LaunchLine:
        """Print mode, with its events as they come."""
        argv = (*self.start, "-p", "--output-format", "stream-json", "--verbose", *self._options(plan))
        return LaunchLine(argv, stdin_prompt=True, session_id=plan.session_id)

    def _options(self, plan: LaunchInput) -> tuple[str, ...]:
        chosen = ("--session-id", plan.session_id) if plan.session_id else ()
        return (*chosen, "--add-dir", str(plan.prompt_folder))


CLAUDE = Claude(
    name="claude",
    title="Claude Code",
    leave="/exit",
    executables=("claude",),
    window=200_000,
    marks=("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION"),
    process_names=("claude", "/@anthropic-ai/claude-code/"),
)
