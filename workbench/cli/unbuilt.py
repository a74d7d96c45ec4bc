"""The commands of the contract that this version does not carry out yet; their help pages are part of it."""

from __future__ import annotations

from workbench.cli.spec import PACKAGE, TASK, Command, flag, option, word

TO = option("--to", value="AGENT", help="the agent, see: workbench agents", required=True)
LAUNCH = option("--launch", value="W", help="how to start it", choices=("tmux", "foreground", "acp", "print", "copy"))
SESSION = option("--session", value="S", help="a session: id, path or latest")
FILE = option("--file", value="F", help="read it from a file; - is standard input")
_NO_TASK = "3 no such task, or an ambiguous prefix"
_HUMAN = "5 a person is needed"

UNBUILT: tuple[Command, ...] = (
    Command(
        "home",
        "every repository and worktree where agents worked",
        "One line a thread of work over all repositories and worktrees, from session files and git alone: "
        "repository, worktree, agent, age, the person's and the agent's last words, dirty files, last red command, "
        "fullness, limit, and the command that resumes it. The same as status --all.",
        keys="threads[]{repo,worktree,branch,agent,session,age,person_said,agent_said,asks,dirty,red,full,"
        "limited_until,resume}",
    ),
    Command(
        "line",
        "one status segment for tmux",
        "Prints one short status segment for a status line, from the cache, in under 50 ms.",
        examples=("set -g status-right '#(workbench line)'",),
    ),
    Command(
        "task draft",
        "draft a task from a session",
        "Drafts a task card from an agent's session: the objective is the person's first substantial request of the "
        "present topic with the later requests that change it; go-aheads and pasted logs never count. Three "
        "candidates are shown; no acceptance is invented.",
        (option("--session", value="S", help="a session: id, path or latest", required=True),),
        exits=("3 no such session", _HUMAN),
        keys="task, objective_candidates[], proposals[]",
    ),
    Command(
        "history check",
        "whether trimming is needed",
        "Prints the density of the context and the five signs, each with the messages that prove it, and advice.",
        (TASK,),
        exits=(_NO_TASK,),
        keys="density, signs[]{sign,hit,messages,meaning}, advice",
    ),
    Command(
        "history export",
        "the trimmed history as a session of the agent",
        "Writes a new session file in the agent's own format with the trimmed history, and prints the command that "
        "resumes it, or runs it with --resume. The agent's own file is never touched.",
        (TASK, TO, flag("--resume", help="run the command")),
        exits=(_NO_TASK, _HUMAN + " for --resume"),
        keys="path, session, command, tokens{all,kept}",
    ),
    Command(
        "artifact bind",
        "tie a promised output to one version",
        "Binds an output key of a task to exactly one artifact version.",
        (TASK, word("KEY", "the output key"), word("ID@V", "artifact and version")),
        exits=(_NO_TASK, _HUMAN),
        keys="artifacts[]{id,key,kind,versions[]}",
    ),
    Command(
        "compare",
        "the compile strategies side by side",
        "Compiles a task under each strategy and counts what is carried. It shows what is carried, not that tasks "
        "succeed.",
        (TASK,),
        exits=(_NO_TASK,),
        keys="strategies[]{name,tokens,active_facts,stale_values,inputs,failure,acceptance,evidence}",
    ),
    Command(
        "handoff quick",
        "from nothing to the running receiver",
        "Makes a workspace and a drafted task from a session where there are none, compiles a package, shows it, "
        "and launches the receiver.",
        (TO, SESSION, LAUNCH),
        exits=("3 no session", _HUMAN),
        keys="package, differences[], command[]",
    ),
    Command(
        "review start",
        "let another agent judge what was done",
        "Compiles a review package (contract, constraints, difference, evidence, open claims; not the writer's "
        "words) and launches a reader that may not write.",
        (TASK, TO, LAUNCH),
        exits=(_NO_TASK, _HUMAN),
        keys="package, findings[]{item,path,line,text,ticked}",
    ),
    Command(
        "review findings", "what the reviewer found", "Prints the findings of a review, read from its session.",
        (PACKAGE,),
        exits=("3 no such package",),
        keys="package, findings[]{item,path,line,text,ticked}",
    ),
    Command(
        "review send", "send ticked findings to the writer", "Sends only the ticked findings. A person's act.",
        (PACKAGE, option("--only", value="N", help="numbers of the findings, from 1", many=True, required=True)),
        exits=("3 no such package", _HUMAN),
        keys="package, findings[]{item,path,line,text,ticked}",
    ),
    Command(
        "consult ask",
        "ask another agent for advice",
        "Sends a question with what it needs to be answered. The asker stays responsible, and its attempt runs on.",
        (TASK, TO, word("TEXT", "the question")),
        exits=(_NO_TASK, _HUMAN),
        keys="package, note",
    ),
    Command(
        "consult answer", "the advice that came back", "Prints the answer, which is kept as a note with proposals.",
        (PACKAGE,),
        exits=("3 no such package, or no answer yet",),
        keys="package, note",
    ),
    Command(
        "back",
        "hand a task back",
        "Resumes the session of an agent that worked on the task before, with the difference since it left; or "
        "starts it afresh.",
        (TASK, TO),
        exits=(_NO_TASK, _HUMAN),
        keys="package, differences[], command[]",
    ),
    Command(
        "change",
        "one changed requirement, to every task it touches",
        "Names the tasks of all worktrees whose facts, contract or last package carry the old value, and sends each "
        "running executor an amendment. A person's act.",
        (word("TEXT", "the change, in one line"),),
        exits=(_HUMAN,),
        keys="tasks, amendment, delivered[]",
    ),
    Command(
        "report",
        "report a task's result",
        'Takes a claim: {"status": "done", "summary": "", "outputs": {"KEY": "PATH"}, "items": [{"id": "", '
        '"claim": "", "evidence": []}]}. The verdict comes from records, not from the claim.',
        (TASK, option("--file", value="F", help="the report; - is standard input", required=True)),
        exits=(_NO_TASK,),
        keys="verdict{status,revision,items[]{id,text,verdict,evidence[],why,does_not_show},not_checked[]}",
    ),
    Command(
        "verify",
        "the verdict on a task",
        "Judges every acceptance item from records. With --run it runs the required commands itself, after a person "
        "agreed to the exact lines.",
        (TASK, flag("--run", help="run the required commands")),
        exits=(_NO_TASK, "5 not verified", "7 nobody has trusted these commands"),
        keys="verdict{status,revision,items[]{id,text,verdict,evidence[],why,does_not_show},not_checked[]}",
    ),
    Command(
        "trace",
        "what an attempt was given, received and read",
        "One view of an attempt: snapshot, manifest, inputs, evidence, verdict, bindings, and for every candidate "
        "how far it came; with hints, each with what to look at.",
        (word("TASK|ATTEMPT", "a task, or an attempt by unique id prefix"),),
        exits=("3 no such task or attempt",),
        keys="attempt, ladder[], inputs[], evidence[], verdict, bindings[], hints[]{code,subject,look_at}",
    ),
    Command(
        "stats",
        "what came of past handoffs",
        "Counts, per handoff and from this workspace's own records, what came of it; with the number of cases.",
        (option("--by", value="WHAT", help="grouped by", choices=("strategy", "agent", "task")),),
        keys="attempt, ladder[], inputs[], evidence[], verdict, bindings[], hints[]",
    ),
    Command(
        "connect",
        "give an agent the workbench's tools",
        "Adds the workbench's MCP entry and four lines of instructions to an agent's configuration; the difference "
        "is shown first, a backup is kept. A person's act.",
        (word("AGENT", "an agent, see: workbench agents"), flag("--dry-run", help="only show the difference")),
        exits=("3 no such agent", _HUMAN),
        keys="agents[]{name,executable,version,window,sessions_dir,connected}",
    ),
    Command(
        "disconnect",
        "take the workbench's tools away again",
        "Removes exactly what connect added. A person's act.",
        (word("AGENT", "an agent, see: workbench agents"),),
        exits=("3 no such agent", _HUMAN),
        keys="agents[]{name,executable,version,window,sessions_dir,connected}",
    ),
    Command(
        "mcp",
        "the workbench's tools for agents",
        "Serves the tools over standard input and output until it ends. None of them confirms, launches, runs "
        "commands or reads outside the workspace.",
        (option("--tools", value="all|NAMES", help="which tools; five by default"),),
    ),
    Command(
        "serve",
        "the app in a browser",
        "Serves the app on loopback, behind a token; read-only unless --write.",
        (
            option("--port", value="N", help="the port; a free one where not given", number=True),
            flag("--write", help="allow changes"),
        ),
    ),
    Command(
        "sync",
        "carry the workspace between machines",
        "Carries the workspace over a git branch of its own.",
        exits=(_HUMAN,),
    ),
    Command(
        "eval",
        "measure handoff quality on data",
        "Measures what packages carry against plain strategies, without a model.",
        (word("DATA", "data files", many=True),),
    ),
)  # fmt: skip
