"""The way of one call: global options, command, function, answer or error, exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.cli import globals as options_of
from workbench.cli.globals import Globals
from workbench.cli.output import Answer, Output
from workbench.errors import NotBuiltError, UsageError, WorkbenchError

INTERRUPTED = 130
PIPE_CLOSED = 141
"""What a shell shows for a program that SIGPIPE ended."""


def main(argv: Sequence[str] | None = None, env: Mapping[str, str] | None = None) -> int:
    """Run ``workbench`` with ``argv``; returns the exit code and never raises for a failure."""
    words = list(sys.argv[1:] if argv is None else argv)
    env = dict(os.environ if env is None else env)
    out = Output(json=options_of.json_wanted(words), env=env)
    options = Globals(debug="--debug" in words)
    begin = time.monotonic()
    try:
        _refuse_bytes(words)
        options, rest = options_of.split(words)
        if options.debug:
            from workbench.cli.log import start

            start(env)
        code = _dispatch(options, rest, out, env)
    except BrokenPipeError:
        code = _pipe_closed()
    except KeyboardInterrupt as stop:
        out.note(f"interrupted; {stop}" if str(stop) else "interrupted")
        code = INTERRUPTED
    except WorkbenchError as problem:
        code = _failed(problem, out, options)
    except Exception as problem:  # the one place where everything else becomes a line and an exit code
        code = _surprised(problem, out, options, env)
    if options.debug:
        from workbench.cli.log import finish

        finish(words, code, time.monotonic() - begin)
    return code


def _refuse_bytes(words: Sequence[str]) -> None:
    """Refuse arguments that are not UTF-8: they could be neither stored nor shown as they are."""
    for number, item in enumerate(words, 1):
        try:
            item.encode("utf-8")
        except UnicodeEncodeError:
            raise UsageError(f"argument {number} is not UTF-8", "give such a text by --file, in UTF-8") from None


def _dispatch(options: Globals, rest: list[str], out: Output, env: Mapping[str, str]) -> int:
    from workbench.cli import parser as p

    if options.version:
        from importlib.metadata import version

        out.exact(f"workbench {version('handoff-workbench')}\n")
        return 0
    first = rest[0] if rest else ""
    if first in p.NOUNS:
        command, noun, left = p.find(rest)
        if command is None:
            if options.help:
                out.exact(p.noun_page(noun))
                return 0
            verbs = ", ".join(p.commands_of(noun))
            raise UsageError(f"workbench {noun} needs a command", f"one of: {verbs}\nsee: workbench {noun} --help")
    else:
        command, left = p.APP, rest
    if options.help:
        out.exact(p.help_page(command) if command is not p.APP else p.main_page())
        return 0
    if not command.run:
        raise NotBuiltError(
            f"workbench {command.words} is not built yet", f"what it will do: workbench {command.words} --help"
        )
    return _carry_out(command.run, p.parser_of(command) if command is not p.APP else None, left, options, out, env)


def _carry_out(run: str, parser: object, left: list[str], options: Globals, out: Output, env: Mapping[str, str]) -> int:
    import argparse
    import importlib

    from workbench.cli.call import Call

    module, _, function = run.partition(":")
    if isinstance(parser, argparse.ArgumentParser):
        args = parser.parse_intermixed_args(_verbatim(left))
    else:
        args = argparse.Namespace(words=left)
    call = Call(args=args, options=options, out=out, env=env, cwd=_current_folder())
    answer = getattr(importlib.import_module(f"workbench.cli.commands.{module}"), function)(call)
    call.say_notices()
    if isinstance(answer, Answer):
        out.answer(answer)
        return answer.exit_code
    return int(answer)


def _verbatim(words: list[str]) -> list[str]:
    """The words with those behind a lone ``--`` marked, so that nothing takes them for options, nor for none."""
    from workbench.cli.spec import VERBATIM

    at = words.index("--") if "--" in words else len(words)
    return [word or VERBATIM for word in words[:at]] + [VERBATIM + word for word in words[at + 1 :]]


def _failed(problem: WorkbenchError, out: Output, options: Globals) -> int:
    if options.debug:
        _trace()
    if out.json and problem.document is not None:
        out.document(problem.document)
    else:
        out.error(problem.as_json())
    return problem.exit_code


def _surprised(problem: Exception, out: Output, options: Globals, env: Mapping[str, str]) -> int:
    from workbench.cli import log as log_of

    if options.debug:
        _trace()
    log = log_of.record_failure(problem, env)
    if not options.debug:
        log_of.stop()
    what = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    if isinstance(problem, OSError):
        hint = "the operating system refused it; what was there before is unchanged"
    else:
        hint = "this is a fault of the program; nothing that was acknowledged is lost"
    where = f"\ndetails: {log}" if log else ""
    more = "" if options.debug else "\nrepeat with --debug to see where"
    from workbench.store.mask import mask

    out.error({"code": "internal", "message": mask(what), "hint": hint + where + more, "details": {}})
    return 1


def _trace() -> None:
    import traceback

    from workbench.store.mask import mask
    from workbench.text import safe

    if sys.stderr is not None:
        sys.stderr.write(safe(mask(traceback.format_exc())))


def _pipe_closed() -> int:
    """The reader went away; keep Python from complaining once more when it flushes at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            os.dup2(nowhere, stream.fileno())
        except (OSError, ValueError):
            continue
    return PIPE_CLOSED


def _current_folder() -> Path:
    """The folder we stand in.

    Raises:
        UsageError: It was removed under us.
    """
    try:
        return Path.cwd()
    except OSError:
        raise UsageError("the current folder does not exist any more", "go to another folder") from None
