"""Memory of the server before, while and after one long text is remembered, embedded and read.

    python3 benches/long_text_memory.py --binary target/release/remembrancer --megabytes 10

It starts `serve` on a folder of its own with the pieces of `remembrancer setup` linked into it, remembers one text, waits until its
jobs are done, and prints the resident memory (RSS, of the server without its database) at the start, when the answer came, at its
peak, when the work was done, and as many minutes later as are asked for. It also prints how long the answer and the work took.
"""
import argparse, os, random, subprocess, tempfile, time

from mcp_client import Failure, Http

WORDS = ("pump valve motor report meeting budget harbour engine crate invoice winter station signal copper river "
         "planned weekly customer release contract schedule garden window market printer ticket server backup archive").split()


def text_of(megabytes, seed=7):
    """Sentences of which no two are alike, in paragraphs."""
    dice, parts, size, n = random.Random(seed), [], 0, 0
    while size < megabytes * 1_000_000:
        sentence = f"Entry {n} says that {' '.join(dice.choices(WORDS, k=14))} took {dice.randrange(10_000)} minutes."
        parts.append(sentence + ("\n\n" if n % 9 == 8 else " "))
        size += len(parts[-1])
        n += 1
    return "".join(parts)[:megabytes * 1_000_000 - 1]


def rss(pid, field="VmRSS"):
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith(field))
    return int(line.split()[1]) / 1024


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--binary", default="target/release/remembrancer")
    args.add_argument("--pieces", default="/var/lib/remembrancer", help="a data folder that `setup` filled")
    args.add_argument("--megabytes", type=int, default=10)
    args.add_argument("--minutes", type=int, nargs="*", default=[1, 5, 10])
    args.add_argument("--port", type=int, default=3187)
    args.add_argument("--answer-only", action="store_true", help="only how long the answer takes")
    args = args.parse_args()
    with tempfile.TemporaryDirectory(prefix="remembrancer-memory-") as folder:
        os.chmod(folder, 0o755)
        for piece in ("runtime", "models"):
            os.symlink(os.path.join(args.pieces, piece), os.path.join(folder, piece))
        server = subprocess.Popen([args.binary, "serve", "--data-dir", folder, "--bind", f"127.0.0.1:{args.port}"],
                                  stdout=subprocess.DEVNULL, stderr=open(os.path.join(folder, "log"), "w"))
        try:
            measure(args, server.pid)
        finally:
            server.terminate()
            server.wait(60)
            postgres = os.path.join(folder, "postgres/data/postmaster.pid")
            if os.path.exists(postgres):
                os.kill(int(open(postgres).readline()), 2)
                time.sleep(3)


def measure(args, pid):
    url = f"http://127.0.0.1:{args.port}/mcp"
    client = connect(url)
    client.ask("remember", content="The pump in the harbour was mended on Monday.")
    wait_for_jobs(client)
    print(f"at the start: {rss(pid):.0f} MB", flush=True)
    content = text_of(args.megabytes)
    started = time.perf_counter()
    answer = client.ask("remember", content=content)
    print(f"answer after {time.perf_counter() - started:.1f} s: {rss(pid):.0f} MB, peak so far {rss(pid, 'VmHWM'):.0f} MB",
          flush=True)
    if args.answer_only:
        return
    wait_for_jobs(client)
    print(f"work done after {time.perf_counter() - started:.0f} s: {rss(pid):.0f} MB, peak {rss(pid, 'VmHWM'):.0f} MB",
          flush=True)
    done = time.time()
    for minute in args.minutes:
        time.sleep(max(0.0, done + minute * 60 - time.time()))
        print(f"{minute} min later: {rss(pid):.0f} MB", flush=True)
    client = connect(url)  # the server has closed the idle connection
    found = client.ask("recall", query="When was the pump in the harbour mended?", limit=1)
    print(f"a recall took {found.seconds * 1000:.0f} ms; then {rss(pid):.0f} MB", flush=True)


def connect(url):
    for _ in range(240):
        try:
            return Http(url).open()
        except (OSError, Failure):
            time.sleep(0.5)
    raise SystemExit(f"nothing answers at {url}")


def wait_for_jobs(client):
    """Until no job waits or is being done, twice in a row."""
    quiet = 0
    while quiet < 2:
        time.sleep(1)
        jobs = client.ask("status").structured["jobs"]
        quiet = quiet + 1 if jobs["pending"] + jobs["processing"] == 0 else 0


if __name__ == "__main__":
    main()
