#!/usr/bin/env python3
"""The speed of `coord graph`, cold and as a whole process, beside the fastest tools that compute the whole graph.

    python3 benches/graph_speed.py COORD SCRATCH [--rounds N] [--only NAME...]
    python3 benches/graph_speed.py COORD SCRATCH --repository PATH...
    python3 benches/graph_speed.py COORD SCRATCH --large 200000

COORD is a release build. SCRATCH keeps the repositories and the peers between runs. Prints Markdown.

The peers: `rev-dep` 2.19.1 (npm) for JavaScript and TypeScript, and `ruff analyze graph` 0.17.6 (PyPI) for Python, in the
root of the repository. rev-dep has no command that prints the graph alone. `entry-points` (the files that none imports) and
`unresolved` are the fastest of those that must read and resolve the imports of every file. Neither tool keeps a cache from run
to run.

Runs are interleaved, one of each command a round, because the machine may be busy: compare by the ratio of medians.
The time of a round is that of the process from start to end, with its output thrown away; the memory is its peak resident
set."""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "graph-truth"))
import corpora  # noqa: E402

REV_DEP = "rev-dep@2.19.1"
RUFF = "ruff==0.17.6"
GENERATED = 10_000
# Commands that print nothing to standard output when they find nothing.
SILENT = ["unresolved"]
# Files in one folder of the generated repository, about as many as in real packages.
FOLDER = 20


def install_peers(scratch):
    """The programs of the peers themselves: what starts them by way of node or Python would count as their time."""
    folder = scratch / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "node_modules").exists():
        npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder), REV_DEP]
        subprocess.run(npm, check=True, stdout=subprocess.DEVNULL)
    [rev_dep] = [path for path in folder.glob("node_modules/@rev-dep/*/bin/rev-dep*") if os.access(path, os.X_OK)]
    ruff = folder / "venv" / "bin" / "ruff"
    if not ruff.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        subprocess.run([ruff.with_name("pip"), "install", "--quiet", "--disable-pip-version-check", RUFF], check=True)
    return rev_dep, ruff


def generated_file(number, count, numbers):
    """A module of TypeScript: 1 to 12 imports at its head, most from its own folder and the one beside, some by alias and
    some of packages; then functions with comments, strings, templates and regular expressions, 0.5 to 20 kB, 4 on average."""
    lines = []
    here = number // FOLDER
    for _ in range(min(12, 1 + int(numbers.expovariate(1 / 4)))):
        near = numbers.random() < 0.7
        target = numbers.randrange(here * FOLDER, (here + 2) * FOLDER) if near else numbers.randrange(count)
        target = min(target, count - 1)
        folder, name = target // FOLDER, f"m{target}"
        how = numbers.random()
        if target == number or how < 0.15:
            lines.append('import { useState, useMemo } from "react";')
        elif how < 0.25:
            lines.append(f'import type {{ T{target} }} from "@/p{folder // 50}/f{folder}/{name}";')
        elif how < 0.30:
            lines.append(f'export * from "../../p{folder // 50}/f{folder}/{name}";')
        elif how < 0.33:
            lines.append(f'const lazy{target} = () => import("../../p{folder // 50}/f{folder}/{name}");')
        else:
            lines.append(f'import {{ v{target}, type T{target} }} from "../../p{folder // 50}/f{folder}/{name}.js";')
    lines.append(f"export type T{number} = {{ id: number; name: string }};\nexport const v{number} = {number};")
    size = min(20_000, 500 + int(numbers.expovariate(1 / 3500)))
    length = sum(len(line) for line in lines)
    while length < size:
        a, b = numbers.randrange(1000), numbers.randrange(1000)
        block = (
            f"/**\n * Says what import {a} is from, and why it matters.\n * @param value what to look at\n */\n"
            f"export function f{a}_{length}(value: string, from: number = {b}): string {{\n"
            f"  // Not an import: see f{b}.\n  const parts = value.split(/[\"'`/]+/g).filter((part) => part.length > {a % 10});\n"
            f"  if (parts.length / 2 > from) {{\n    return `${{parts.map((part) => `<${{part}}>`).join(\", \")}} of ${{from}}`;\n  }}\n"
            f"  return parts.length ? 'it has \"{a}\"' : \"import nothing from './nowhere'\";\n}}\n"
        )
        lines.append(block)
        length += len(block)
    return "\n".join(lines) + "\n"


def generate(root, name, count):
    """A repository of `count` files of TypeScript, the same ones on every machine."""
    folder = root / name
    if not folder.exists():
        half = root / f".{name}.half"
        subprocess.run(["rm", "-rf", str(half)], check=True)
        numbers = random.Random(count)
        for number in range(count):
            place = half / "src" / f"p{number // FOLDER // 50}" / f"f{number // FOLDER}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"m{number}.ts").write_text(generated_file(number, count, numbers))
        (half / "tsconfig.json").write_text(json.dumps({"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}))
        (half / "package.json").write_text(json.dumps({"name": "generated", "dependencies": {"react": "19"}}))
        corpora.commit_all(half)
        half.rename(folder)
    corpora.git(folder, "update-index", "-q", "--refresh")
    return folder


def run(command, folder, output=subprocess.DEVNULL):
    """Wall seconds, seconds of the processors, and peak memory in MiB."""
    started = time.perf_counter()
    quiet = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([str(word) for word in command], cwd=folder, **quiet)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    # rev-dep's exit status is the number of its findings.
    if process.returncode < 0 or (process.returncode > 0 and "rev-dep" not in command[0].name):
        sys.exit(f"{command} in {folder} failed: {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(name, folder, commands, rounds):
    """A line for each command, the first of which is Coord's."""
    runs = [[] for _ in commands]
    # Fills the page cache, and checks that each command prints something.
    for _, command in commands:
        with tempfile.TemporaryFile() as output:
            run(command, folder, output)
            if os.fstat(output.fileno()).st_size == 0 and command[1] not in SILENT:
                sys.exit(f"{command} in {folder} printed nothing")
    for _ in range(rounds):
        for (_, command), measured in zip(commands, runs):
            measured.append(run(command, folder))
    ours = statistics.median(wall for wall, _, _ in runs[0])
    for (title, _), measured in zip(commands, runs):
        walls = [wall for wall, _, _ in measured]
        processor = statistics.median(processor for _, processor, _ in measured)
        ratio = f"{statistics.median(walls) / ours:.2f}"
        cells = [name, title, f"{min(walls) * 1000:.0f}", f"{statistics.median(walls) * 1000:.0f}"]
        cells += [f"{processor * 1000:.0f}", ratio, f"{max(memory for _, _, memory in measured):.0f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("coord", type=pathlib.Path)
    arguments.add_argument("scratch", type=pathlib.Path)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--only", nargs="*", help="names of repositories")
    others = "other repositories instead, of JavaScript or TypeScript"
    arguments.add_argument("--repository", nargs="+", type=pathlib.Path, metavar="PATH", help=others)
    arguments.add_argument("--large", type=int, metavar="FILES", help="only one run over so many generated files")
    given = arguments.parse_args()
    coord, scratch = given.coord.resolve(), given.scratch.resolve()
    graph = [coord, "graph", "--format", "tsv"]
    print("| repository | command | wall ms, least | median | processor ms | ratio of medians | peak MiB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    if given.large:
        folder = generate(scratch, f"generated-{given.large}", given.large)
        compare(f"{given.large} generated files", folder, [("coord graph", graph)], 1)
        return
    rev_dep, ruff = install_peers(scratch)
    rev_deps = [(f"rev-dep {word}", [rev_dep, word]) for word in ["entry-points", "unresolved"]]
    for folder in given.repository or []:
        compare(folder.resolve().name, folder, [("coord graph", graph), *rev_deps], given.rounds)
    if given.repository:
        return
    names = [*corpora.PACKAGES, "generated"]
    names = [name for name in names if not given.only or name in given.only]
    root = corpora.prepare(scratch / "corpora", [name for name in names if name != "generated"])
    for name in names:
        folder = generate(scratch, "generated", GENERATED) if name == "generated" else root / name
        peers = [("ruff analyze graph", [ruff, "analyze", "graph"])] if name == "django" else rev_deps
        title = f"{GENERATED} generated files" if name == "generated" else corpora.PACKAGES[name]
        compare(title, folder, [("coord graph", graph), *peers], given.rounds)


if __name__ == "__main__":
    main()
