#!/usr/bin/env python3
"""How much of the true import graph `coord graph` finds: `check.py COORD CORPORA [--truth FOLDER]`.

Makes the repositories below CORPORA, runs COORD in each, and compares with `edges/`. Fails under a bar, and where an edge
that is forbidden was found."""

import argparse
import collections
import gzip
import pathlib
import subprocess
import sys

import corpora

# Least share of the edges found that are true, and of the true edges that are found.
PACKAGE_BAR = 0.999
DJANGO_BAR = 0.9998
# Least number of expected edges that are found, by suite.
TRAP_BARS = {"traps": 72, "pytraps": 40}
PYTHON = (".py", ".pyi")
# How many edges of one kind of miss are shown.
SHOWN = 5


def edges(text):
    return {tuple(line.split("\t")) for line in text.splitlines() if line}


def found(coord, repository, kinds):
    command = [coord, "graph", "--format", "tsv", "--kinds", kinds]
    return edges(subprocess.run(command, cwd=repository, check=True, stdout=subprocess.PIPE, text=True).stdout)


def shares(ours, truth):
    both = len(ours & truth)
    return both / max(len(ours), 1), both / max(len(truth), 1)


class Report:
    def __init__(self, truth):
        self.rows, self.misses, self.failures = [], collections.defaultdict(list), []
        text = (truth / "known-misses.tsv").read_text()
        self.known = {tuple(line.split("\t")[:4]): line.split("\t")[4] for line in text.splitlines() if line}

    def add(self, name, cells, is_met):
        self.rows.append([name, *cells, "yes" if is_met else "NO"])
        if not is_met:
            self.failures.append(name)

    def note(self, name, which, missed):
        for edge in sorted(missed):
            kind = self.known.get((name, which, *edge), "of no known kind")
            self.misses[name, which, kind].append(edge)

    def print(self):
        head = ["repository", "edges found", "true", "precision", "recall", "bar", "met"]
        widths = [max(len(row[column]) for row in [head, *self.rows]) for column in range(len(head))]
        for row in [head, *self.rows]:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        print("\nWhat is left:" if self.misses else "\nNothing is missed.")
        for (name, which, kind), missed in self.misses.items():
            print(f"  {len(missed):5}  {name}, {which}: {kind}")
            for source, target in missed[:SHOWN]:
                print(f"           {source} -> {target}")


def check_traps(report, name, bar, ours, folder):
    expected = edges((folder / f"{name}.expected.tsv").read_text())
    forbidden = edges((folder / f"{name}.forbidden.tsv").read_text())
    hits, wrong = len(expected & ours), ours & forbidden
    cells = [f"{hits} of {len(expected)}", str(len(expected)), f"{len(wrong)} forbidden", "", f"{bar}, 0 forbidden"]
    report.add(name, cells, hits >= bar and not wrong)
    report.note(name, "missed", expected - ours)
    report.note(name, "forbidden", wrong)


def check_package(report, name, ours, folder):
    truth = edges(gzip.decompress((folder / f"{name}.tsv.gz").read_bytes()).decode())

    def add(title, ours, bar):
        precision, recall = shares(ours, truth)
        cells = [str(len(ours)), str(len(truth)), f"{precision:.5f}", f"{recall:.5f}", f"{bar}" if bar else "none"]
        report.add(title, cells, not bar or min(precision, recall) >= bar)

    if name == "django":
        # Its truth is of Python alone: the edges of its scripts for browsers are neither true nor false by it.
        add("django, all sources", ours, None)
        ours = {edge for edge in ours if edge[0].endswith(PYTHON)}
        add("django, of Python", ours, DJANGO_BAR)
    else:
        add(name, ours, PACKAGE_BAR)
    report.note(name, "missed", truth - ours)
    report.note(name, "found too much", ours - truth)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("coord")
    arguments.add_argument("corpora")
    arguments.add_argument("--truth", type=pathlib.Path, default=corpora.HERE / "edges")
    given = arguments.parse_args()
    root = corpora.prepare(given.corpora, [*corpora.TRAPS, *corpora.PACKAGES])
    coord = str(pathlib.Path(given.coord).resolve())
    report = Report(given.truth)
    for name, bar in TRAP_BARS.items():
        check_traps(report, name, bar, found(coord, root / name, "all"), given.truth)
    for name in corpora.PACKAGES:
        check_package(report, name, found(coord, root / name, "core"), given.truth)
    report.print()
    if report.failures:
        sys.exit(f"Under the bar: {', '.join(report.failures)}")


if __name__ == "__main__":
    main()
