"""The agent programs that the product knows how to start."""

from __future__ import annotations

from workbench.agents.claude import CLAUDE
from workbench.agents.codex import CODEX
from workbench.agents.gemini import GEMINI, QWEN
from workbench.agents.kimi import KIMI
from workbench.agents.opencode import OPENCODE
from workbench.agents.pi import PI
from workbench.agents.program import AgentProgram

KNOWN: dict[str, AgentProgram] = {
    program.name: program for program in (CLAUDE, CODEX, GEMINI, OPENCODE, PI, QWEN, KIMI)
}
"""By name, in the order in which they are offered."""
