#!/usr/bin/env python3
"""How long backups and restores take: fills a data folder of its own with notes, then backs it up, proves and restores it.

    python3 benches/backup.py target/release/remembrancer --notes 100000 --data-dir /var/tmp/backup-bench

The folder of the pieces is that of `remembrancer setup`; the data folder is made, and left for another run unless --remove is given.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import time

PEOPLE = ["Alice Chen", "Bob Martinez", "Carol Diaz", "Dan Novak", "Eve Okafor", "Frank Weiss"]
THINGS = ["the budget", "the API design", "the report", "the migration", "the contract", "the schema review", "the roadmap"]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]


def notes(count):
    """An archive of invented notes, a passage each."""
    chosen = random.Random(7)
    yield {"type": "remembrancer-archive", "version": 2}
    for n in range(count):
        who, whom = chosen.sample(PEOPLE, 2)
        content = f"{who} will send {chosen.choice(THINGS)} of project {n} to {whom} by {chosen.choice(DAYS)}, which may slip."
        digest = hashlib.sha256(content.encode()).hexdigest()
        yield {"type": "artifact", "sha256": digest, "content": content}
        yield {"type": "revision", "artifact": digest, "context": "note", "importance": 0.5,
               "created_at": "2026-03-01T10:00:00Z", "latest": True}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--data-dir", type=pathlib.Path, required=True)
    parser.add_argument("--pieces", type=pathlib.Path, default=pathlib.Path("/var/lib/remembrancer"))
    parser.add_argument("--remove", action="store_true")
    args = parser.parse_args()
    data, program = args.data_dir.resolve(), str(args.program.resolve())
    data.mkdir(mode=0o711, parents=True, exist_ok=True)
    for piece in ("runtime", "models"):
        if not (data / piece).exists():
            (data / piece).symlink_to(args.pieces / piece)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("REMEMBRANCER_", "QDRANT_", "DATABASE_URL"))}

    def run(*arguments):
        started = time.monotonic()
        command = [program, "--data-dir", str(data), *map(str, arguments)]
        done = subprocess.run(command, env=clean, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: {done.stderr}")
        return done.stdout, time.monotonic() - started

    status = json.loads(run("status", "--json")[0])
    if status["counts"]["artifacts"] < args.notes:
        archive = data / "notes.jsonl"
        with archive.open("w") as out:
            for line in notes(args.notes):
                out.write(json.dumps(line) + "\n")
        print(f"import of {args.notes} notes: {run('import', archive)[1]:.1f} s")
        archive.unlink()
    started = time.monotonic()
    while json.loads(run("status", "--json")[0])["pending_jobs"] > 0:
        time.sleep(2)
    print(f"vectors and events after that: {time.monotonic() - started:.1f} s")

    shelf = data / "backup-bench"
    for kind in ("physical", "logical"):
        out, seconds = run("backup", shelf, "--json", *(["--logical"] if kind == "logical" else []))
        made = json.loads(out)
        print(f"{kind} backup: {seconds:.1f} s, {made['bytes'] / 1e6:.0f} MB, {made['files']} files")
        _, seconds = run("restore", "--verify", made["path"])
        print(f"{kind} verify: {seconds:.1f} s")
        into = data.parent / f"{data.name}-restored"
        shutil.rmtree(into, ignore_errors=True)
        _, seconds = run("restore", made["path"], "--into", into)
        print(f"{kind} restore: {seconds:.1f} s")
        shutil.rmtree(into)
        shutil.rmtree(made["path"])
    run("stop")
    if args.remove:
        shutil.rmtree(data)


main()
