"""Agent programs: which there are, how each is started and fed, and whether one stands behind this process."""

from __future__ import annotations

from dataclasses import replace

from workbench.agents.catalogue import KNOWN
from workbench.agents.custom import CustomProgram
from workbench.agents.program import AgentProgram, LaunchInput, LaunchLine, installed
from workbench.config import Config

__all__ = ["AgentProgram", "LaunchInput", "LaunchLine", "installed", "programs"]


def programs(config: Config) -> dict[str, AgentProgram]:
    """Every agent program by name: the known ones as configured, then those that the person defined.

    ``[agents.NAME] command`` of a known agent replaces its executable and leading options; of another
    name it defines a program. In the latter, and in the former where a placeholder occurs, ``{prompt}``
    is the sentence that points to the prompt file, ``{prompt_file}`` and ``{prompt_folder}`` are paths;
    without a placeholder the sentence is appended.
    """
    result: dict[str, AgentProgram] = dict(KNOWN)
    for name, settings in config.agents.items():
        known = KNOWN.get(name)
        if settings.command and (known is None or CustomProgram.has_placeholder(settings.command)):
            result[name] = _custom(name, settings.command, known)
        elif settings.command and known is not None:
            result[name] = replace(known, prefix=settings.command)
        if name in result:
            result[name] = _adjusted(result[name], settings.window, settings.tokenizer)
    return result


def _custom(name: str, command: tuple[str, ...], known: AgentProgram | None) -> CustomProgram:
    return CustomProgram(
        name=name,
        title=known.title if known is not None else name,
        executables=(command[0],),
        window=known.window if known is not None else None,
        marks=known.marks if known is not None else (),
        process_names=known.process_names if known is not None else (),
        template=command,
    )


def _adjusted(program: AgentProgram, window: int | None, tokenizer: str | None) -> AgentProgram:
    if window is not None:
        program = replace(program, window=window)
    if tokenizer is not None:
        program = replace(program, tokenizer=tokenizer, estimated=False)
    return program
