#!/usr/bin/env python3
"""What of a coding agent's session is found again later, and what the hooks cost the sessions that follow.

    python3 benches/transcript.py target/release/remembrancer [--rounds 5] [--json OUT]

A server with an empty data folder imports transcript/session.jsonl (Claude Code's form, 214 turns of three weeks with tools between
them). Then transcript/questions.json is asked, twenty questions that name the turns that answer them: by `recall`, and as the
prompts of a new session in the same project through `hook session-start` and `hook prompt`. found@k is the share of questions with
an answering turn among the first k results, or beside one of them, as `recall --neighbours 1` shows it. Tokens are characters / 4. The time of a hook is that of its whole process, as a host
waits for it. The folder of the pieces is that of `remembrancer setup`. Standard library only.
"""
import argparse, collections, json, math, os, pathlib, re, signal, subprocess, tempfile, time

HERE = pathlib.Path(__file__).parent / "transcript"
STARTED = re.compile(r"serves MCP at (http:\S+)")
DEEPEST = 10


class Memory:
    """A server on a data folder of its own, and the commands that use it."""

    def __init__(self, program, folder, pieces):
        self.program, self.data = str(program), folder / "data"
        self.data.mkdir(mode=0o711)
        for piece in ("runtime", "models"):
            (self.data / piece).symlink_to(pieces / piece)
        dropped = ("REMEMBRANCER_", "QDRANT_", "DATABASE_URL", "RUST_LOG")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
        self.log = folder / "log"
        self.server = subprocess.Popen([*self.command(), "serve", "--bind", "127.0.0.1:0"], env=self.environment,
                                       stderr=self.log.open("w"), stdout=subprocess.DEVNULL)
        for _ in range(600):
            if STARTED.search(self.log.read_text()):
                return
            if self.server.poll() is not None:
                break
            time.sleep(0.1)
        self.close()
        raise SystemExit(f"the server does not listen:\n{self.log.read_text()}")

    def command(self, *arguments):
        return [self.program, "--data-dir", str(self.data), *map(str, arguments)]

    def run(self, *arguments, given=None):
        """What the command printed, and its seconds."""
        started = time.perf_counter()
        done = subprocess.run(self.command(*arguments), env=self.environment, input=given, capture_output=True, text=True)
        seconds = time.perf_counter() - started
        if done.returncode != 0:
            raise SystemExit(f"{arguments}: {done.stderr}")
        return done.stdout, seconds

    def settle(self):
        for _ in range(600):
            status = json.loads(self.run("status", "--json")[0])
            if status["pending_jobs"] == 0:
                return status
            time.sleep(0.5)
        raise SystemExit(f"jobs are still pending: {status}")

    def hook(self, event, session, project, **more):
        """What the hook adds to the conversation, and its seconds."""
        given = {"session_id": session, "cwd": str(project), "transcript_path": str(project / "none.jsonl"), **more}
        out, seconds = self.run("hook", event, given=json.dumps(given))
        return (json.loads(out)["hookSpecificOutput"]["additionalContext"] if out else ""), seconds

    def close(self):
        self.server.send_signal(signal.SIGTERM)
        self.server.wait()


def load_questions(memory):
    """The questions, with the positions of the turns that answer them, by which results name turns."""
    revisions = [line for line in map(json.loads, memory.run("export")[0].splitlines()) if line["type"] == "revision"]
    position_of = {revision["source_id"]: revision["turn_index"] for revision in revisions}
    questions = json.loads((HERE / "questions.json").read_text())
    return [{**asked, "answers": {position_of[turn] for turn in asked["answers"]}} for asked in questions]


def recalled(memory, questions):
    """For each question the rank of its first answering turn, or None, and of the first result beside one; and which turn an
    artifact is."""
    turn_of, ranks, beside = {}, [], []
    for asked in questions:
        results = json.loads(memory.run("recall", "--json", "-n", DEEPEST, "--", asked["question"])[0])["results"]
        turn_of.update((result["id"], result["turn_index"]) for result in results)
        distances = [min(abs(result["turn_index"] - turn) for turn in asked["answers"]) for result in results]
        ranks.append(first_within(distances, 0))
        beside.append(first_within(distances, 1))
    return ranks, beside, turn_of


def first_within(distances, most):
    return next((rank for rank, distance in enumerate(distances, 1) if distance <= most), None)


def hooked(memory, questions, project, turn_of, rounds):
    """What hooks add to a session of these prompts, and their times; the first of the rounds counts for what is added."""
    added, began, times, start_times = [], "", [], []
    for round_number in range(rounds):
        session = f"later-{round_number}"
        text, seconds = memory.hook("session-start", session, project, source="startup")
        start_times.append(seconds)
        texts = []
        for asked in questions:
            more, seconds = memory.hook("prompt", session, project, prompt=asked["question"])
            times.append(seconds)
            texts.append(more)
        if round_number == 0:
            began, added = text, texts
    known, reached = set(), []
    for asked, text in zip(questions, added):
        known |= {turn_of.get(artifact) for artifact in re.findall(r"\[(art_\w+)\]", text)}
        reached.append(bool(known & asked["answers"]))
    return {"session_start_tokens": len(began) / 4, "prompt_tokens": [len(text) / 4 for text in added], "reached": reached,
            "prompt_seconds": times, "session_start_seconds": start_times}


def percentile(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def show(questions, ranks, beside, hooks, imported):
    print(f"imported: {imported['turns']} turns")
    for k in (1, 5, DEEPEST):
        found, near = (sum(rank is not None and rank <= k for rank in these) for these in (ranks, beside))
        print(f"found@{k}: {found} of {len(ranks)} ({100 * found / len(ranks):.0f} %), with the turns beside results {near}")
    kinds = collections.defaultdict(list)
    for asked, rank in zip(questions, ranks):
        kinds[asked["kind"]].append(rank is not None and rank <= 5)
    print("found@5 by kind: " + ", ".join(f"{kind} {sum(found)} of {len(found)}" for kind, found in sorted(kinds.items())))
    tokens = hooks["prompt_tokens"]
    print(f"hooks, a session of {len(tokens)} prompts: {hooks['session_start_tokens']:.0f} tokens at its start, {sum(tokens):.0f} by prompts "
          f"({sum(map(bool, tokens))} got something, at most {max(tokens):.0f}); {sum(hooks['reached'])} had an answering turn by then")
    for name in ("prompt_seconds", "session_start_seconds"):
        times = [1000 * seconds for seconds in hooks[name]]
        print(f"{name.removesuffix('_seconds')}: p50 {percentile(times, 0.5):.0f} ms, p95 {percentile(times, 0.95):.0f} ms of {len(times)}")
    for asked, rank, tokens, reached in zip(questions, ranks, hooks["prompt_tokens"], hooks["reached"]):
        print(f"  {rank or '-':>2}  {tokens:4.0f} {'yes' if reached else 'no':3}  {asked['question']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--pieces", type=pathlib.Path, default=pathlib.Path("/var/lib/remembrancer"))
    parser.add_argument("--rounds", type=int, default=5, help="sessions that the prompts are given to")
    parser.add_argument("--json", type=pathlib.Path, help="a file for all figures")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # The database's process may be another user's.
        folder.chmod(0o755)
        project = folder / "work/saltmarsh"
        (project / ".git").mkdir(parents=True)
        (project / ".git/HEAD").write_text("ref: refs/heads/main\n")
        memory = Memory(args.program.resolve(), folder, args.pieces)
        try:
            imported = json.loads(memory.run("import", "--from", "claude-code", HERE / "session.jsonl", "--json")[0])
            memory.settle()
            questions = load_questions(memory)
            ranks, beside, turn_of = recalled(memory, questions)
            hooks = hooked(memory, questions, project, turn_of, args.rounds)
        finally:
            memory.close()
    show(questions, ranks, beside, hooks, imported)
    if args.json:
        args.json.write_text(json.dumps({"ranks": ranks, "ranks_beside": beside, **hooks}, indent=1) + "\n")


main()
