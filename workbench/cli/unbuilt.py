"""The commands of the contract that this version does not carry out yet; their help pages are part of it."""

from __future__ import annotations

from workbench.cli.spec import PACKAGE, TASK, WHY, Command, flag, option, word

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
        "merge",
        "take in another copy of the workspace",
        "Takes in another copy of the workspace (a colleague's, another machine's, a backup), record by record: all "
        "records of both survive, contradictions become contested, in any order with the same result. A person's act.",
        (word("PATH", "the other copy: a repository or its .workbench folder"),),
        exits=(_HUMAN, "6 records that could not be read, in damaged[]"),
        keys="merged, contested[], damaged[]",
    ),
    Command(
        "doctor",
        "check the workspace, and repair it when asked",
        "Checks locks, journal, records, blobs, modes and the file system, and says of each whether it is well. "
        "With --fix it completes what was acknowledged, moves damaged files to quarantine and restores the last "
        "acknowledged version, naming source, time and what is missing.",
        (
            flag("--fix", help="repair; nothing else ever moves a damaged file"),
            option("--bundle", value="F", help="write a masked bundle for a bug report"),
        ),
        exits=("6 damage was found and not repaired",),
        keys="checks[]{name,ok,detail}",
    ),
    Command(
        "gc",
        "remove blobs that nothing refers to",
        "Removes blobs that no record, trim, package or history refers to, and says how much that freed.",
        keys="checks[]{name,ok,detail}",
    ),
    Command(
        "purge",
        "remove a leaked secret from all records",
        "The one deletion there is: rewrites every file that holds a record or a secret and leaves a tombstone. "
        "A person's act; asks on the terminal unless --yes.",
        (
            word("RECORD", "the record to purge", optional=True),
            option("--secret", value="S", help="a secret to remove wherever it stands; - reads it from standard input"),
        ),
        exits=("3 no such record", _HUMAN),
        keys="checks[]{name,ok,detail}",
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
        "state show",
        "what holds now for a task",
        "Prints the variables, done and pending items of a task, with its version and findings.",
        (TASK,),
        exits=(_NO_TASK,),
        keys="state{variables,done[],pending[]}, version, findings[]",
    ),
    Command(
        "state update",
        "change what holds now, by deltas",
        "Moves items, starts them, sets variables. Without --expect the delta applies to the current state; with it, "
        "what touches nothing changed since is applied, and the rest is a conflict with both values. --file takes "
        '{"expect": 9, "done": [], "start": [], "pending": [{"text": "", "priority": 1}], "set": {}}.',
        (
            TASK,
            option("--done", value="T", help="text or id of an item that is done", many=True),
            option("--pending", value="T", help="something still to do", many=True),
            option("--start", value="T", help="text or id of an item whose action begins now", many=True),
            option("--set", value="NAME=JSON", help="set a declared variable", many=True),
            option("--declare", value="NAME:TYPE", help="declare a variable", many=True),
            option("--scratch", value="NAME=JSON", help="a value of this attempt only", many=True),
            option("--expect", value="N", help="the version that was seen", number=True),
            FILE,
        ),
        exits=(_NO_TASK, "4 the same item or variable changed since --expect"),
        keys="state{variables,done[],pending[]}, version, findings[]",
    ),
    Command(
        "state import",
        "take over a state kept elsewhere",
        "Takes {task or task_name, updated_at, variables, done, pending} from a file and merges it into the state.",
        (TASK, option("--file", value="F", help="the document; - is standard input", required=True)),
        exits=(_NO_TASK, "4 an item or variable changed since"),
        keys="state{variables,done[],pending[]}, version, findings[]",
    ),
    Command(
        "fact import",
        "bring many facts at once",
        "Takes lines {key, value, kind?, statement?, scope?, reason?, source?, quote?, by?, at?}, in order, in "
        "batches. by never exceeds the caller's rights. With --settle (a person) each supersession is confirmed; "
        "without it a person's line counts as her words in a session: proposed, and the old one challenged.",
        (word("F", "a file of JSON lines; - is standard input"), flag("--settle", help="confirm each supersession")),
        exits=(_HUMAN + " for --settle",),
        keys="active, proposed, corroborated, superseded, failed[]",
    ),
    Command(
        "note write",
        "keep a value under a key",
        "Writes a note: any JSON under a key, with its sources; the latest wins, earlier values stay in the log. "
        "Sources are the agent's newest turn where not given.",
        (
            word("KEY", "the key"),
            word("JSON", "the value; without it, standard input", optional=True),
            option("--kind", value="K", help="what it is", choices=("note", "structure"), default="note"),
            option("--source", value="M", help="a message, artifact or address", many=True),
        ),
        exits=("5 the value is over 64 KiB: use an artifact",),
        keys="notes[]{key,value,kind,sources,updated_at}",
    ),
    Command(
        "note read",
        "a note by its key",
        "Prints the newest value of a note.",
        (word("KEY", "the key"),),
        exits=("3 no such note",),
        keys="notes[]{key,value,kind,sources,updated_at}",
    ),
    Command(
        "note list", "all notes", "Prints the newest note of every key.",
        keys="notes[]{key,value,kind,sources,updated_at}",
    ),
    Command(
        "note query",
        "find it again",
        "Finds notes, facts, artifacts and trimmed history by words.",
        (word("WORDS", "what to look for", many=True),),
        keys="notes[]{key,value,kind,sources,updated_at}",
    ),
    Command(
        "history view",
        "the messages that one request carried",
        "Prints the exact message list of a request; with --compacted guidelines, last turns and notes in place of "
        "the rest, ready to be sent.",
        (
            TASK,
            option("--request", value="N", help="which request; the last one where not given", number=True),
            flag("--compacted", help="as a compaction would send it"),
        ),
        exits=(_NO_TASK,),
        keys="messages[]",
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
        "extract",
        "facts, decisions, artifacts and open items from a text",
        "Reads a text or a session and prints what it holds of the four kinds, with sources. Nothing is saved "
        "without --propose. With --jsonl each line {id, text} in gives a line {id, items[{kind, text, key, value}], "
        "process} out.",
        (
            word("FILE", "the text; - is standard input", optional=True),
            SESSION,
            option("--jsonl", value="F", help="many texts, one a line; - is standard input"),
            flag("--model", help="ask the configured model, too"),
            option("--propose", value="TASK", help="save what was found as proposals"),
        ),
        exits=("3 no such session or task",),
        keys="facts[], decisions[], artifacts[], open[] (each {text,key,value,quote,source,observed_at}), process, "
        "form: record|chat, tokens{before,after,ratio,tokenizer}",
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
        "evidence run",
        "run a command and record what came of it",
        "Runs a command without a shell, streams its output and records arguments, exit code, excerpt, duration and "
        "the files it depends on. An agent may run a trusted command of the contract only.",
        (TASK, word("CMD", "the command and its arguments, after --", many=True)),
        exits=(_NO_TASK, "5 not a command of the contract, for an agent", "7 nobody has trusted this command"),
        keys="evidence{id,kind,argv,exit_code,excerpt,valid,files[]}",
        examples=("workbench evidence run @ -- npm run build",),
    ),
    Command(
        "evidence list", "what was observed for a task", "Prints the evidence of a task, and whether it still holds.",
        (TASK,),
        exits=(_NO_TASK,),
        keys="evidence{id,kind,argv,exit_code,excerpt,valid,files[]}",
    ),
    Command(
        "evidence add",
        "hand in an observation",
        "Adds evidence from a file; from an agent it is a claim until a session or an own run shows it.",
        (
            TASK,
            option("--kind", value="K", help="which kind", required=True,
                   choices=("command", "file_change", "artifact", "call", "check", "confirmation", "claim")),
            option("--file", value="F", help="the observation; - is standard input", required=True),
        ),
        exits=(_NO_TASK,),
        keys="evidence{id,kind,argv,exit_code,excerpt,valid,files[]}",
    ),
    Command(
        "evidence confirm",
        "a person's yes to an acceptance item",
        "Records that this person accepted an item now. Asks on the terminal unless --yes.",
        (TASK, word("ITEM", "an acceptance item, by unique id prefix")),
        exits=(_NO_TASK, _HUMAN),
        keys="evidence{id,kind,argv,exit_code,excerpt,valid,files[]}",
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
        "search",
        "full text over everything kept",
        "Finds words in history, notes, facts and artifacts; exact strings first.",
        (
            word("WORDS", "what to look for", many=True),
            option("--task", value="T", help="of one task only"),
            flag("--everywhere", help="over all sessions on this machine"),
        ),
        keys="hits[]{source_type,source_id,excerpt,score}, total, left_off",
    ),
    Command(
        "rollback",
        "a record, or a task, as it was",
        "Brings a record back to what it was after a change, or a task to a point in time; itself a change like any "
        "other. A person's act.",
        (
            word("RECORD", "a record, by unique id prefix", optional=True),
            option("--to", value="CHANGE", help="the change after which it was so"),
            option("--task", value="T", help="a whole task"),
            option("--at", value="TIME", help="the moment, for --task"),
            WHY,
        ),
        exits=("3 no such record or change", "4 the record changed meanwhile", _HUMAN),
        keys="changes[]{id,time,actor,record,version,before,after,why}",
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
