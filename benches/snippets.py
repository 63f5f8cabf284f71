#!/usr/bin/env python3
"""Says how often what a recall shows of a long text has the part that answers.

usage: snippets.py FILE --http URL

FILE holds conversations with questions in the form of `remembrancer-bench quality`; each session is remembered as one text with a
line a turn, in a namespace of its own conversation. Counted are results whose text holds a turn that answers, and how many of their
snippets show six tenths of that turn. The server should be empty. Standard library only.
"""
import argparse, collections, json, time

from mcp_client import Http

FIRST = 3
COMPARED_CHARS, PIECE_CHARS, STEP_CHARS = 240, 20, 10
SHOWN_SHARE = 0.6


def is_shown(turn, snippet):
    begins = range(0, min(len(turn), COMPARED_CHARS) - PIECE_CHARS + 1, STEP_CHARS)
    pieces = [turn[at:at + PIECE_CHARS] for at in begins] or [turn]
    return sum(piece in snippet for piece in pieces) >= SHOWN_SHARE * len(pieces)


def remember_sessions(client, conversation):
    """The id of the text of each session."""
    sessions = collections.defaultdict(list)
    for turn in conversation["turns"]:
        sessions[turn["session"]].append(turn)
    ids = {}
    for session, turns in sessions.items():
        lines = "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in turns)
        title = f"Session {session}, {turns[0]['date']}"
        ids[session] = client.ask("remember", content=lines, title=title).structured["id"]
    while client.ask("status").structured["jobs"]["passages_without_vector"]:
        time.sleep(0.2)
    return ids


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--http", required=True)
    options = parser.parse_args()
    counts, chars = collections.Counter(), 0
    for conversation in json.load(open(options.file)):
        turns = {turn["id"]: turn for turn in conversation["turns"]}
        with Http(f"{options.http}?namespace=snippets-{conversation['id']}") as client:
            ids = remember_sessions(client, conversation)
            for question in conversation["questions"]:
                answer = client.ask("recall", query=question["question"], include_events=False, expand=False)
                for place, result in enumerate(answer.structured["results"]):
                    chars += len(result["snippet"])
                    for turn in (turns[id] for id in question["evidence"] if id in turns):
                        if ids[turn["session"]] == result["id"]:
                            where = "first" if place < FIRST else "behind"
                            counts[where, is_shown(turn["text"], result["snippet"])] += 1
    for where in ("first", "behind"):
        print(f"{where}: {counts[where, True]} of {counts[where, True] + counts[where, False]}")
    print(f"{chars} characters shown")


if __name__ == "__main__":
    main()
