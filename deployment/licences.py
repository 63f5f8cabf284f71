"""Prints the notices of every library that the two programs are made of: licences.py REPOSITORY

Name, version and licence as its package says, and the texts that lie beside its source. A text that several share stands there once.
"""

import json
import subprocess
import sys
from pathlib import Path

PROGRAMS = {"remembrancer", "event-worker"}


def used(metadata):
    """The packages that the programs are built of for this machine, without those of tests."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    waiting = [key for key, package in packages.items() if package["name"] in PROGRAMS]
    seen = set()
    while waiting:
        key = waiting.pop()
        if key in seen:
            continue
        seen.add(key)
        for dependency in nodes[key]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    found = [package for key, package in packages.items() if key in seen and package["source"]]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def texts(package):
    folder = Path(package["manifest_path"]).parent
    named = [path for path in folder.iterdir() if path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE"))]
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in sorted(named) if path.is_file()]


def main():
    version = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout
    host = next(line.removeprefix("host: ") for line in version.splitlines() if line.startswith("host: "))
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host]
    metadata = json.loads(subprocess.run(command, cwd=sys.argv[1], check=True, stdout=subprocess.PIPE).stdout)
    sharers = {}
    for package in used(metadata):
        print(f"{package['name']} {package['version']}: {package['license'] or 'see its notice'}")
        for text in texts(package):
            sharers.setdefault(text, []).append(f"{package['name']} {package['version']}")
    for text, packages in sharers.items():
        print(f"\n{'-' * 100}\n{', '.join(packages)}\n\n{text}")


main()
