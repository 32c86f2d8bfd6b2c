#!/usr/bin/env python3
"""Whether `coord graph --interface` sees every change of an interface: `check.py COORD CORPORA`.

For each pair of releases, every file of both whose text differs is asked twice: whether its declarations differ by the
compiler of TypeScript or the parser of Python (`declarations.cjs`, `declarations.py`), and whether its digest does. Fails
where declarations differ and the digest does not, or where digests differ too often alone."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import corpora  # noqa: E402

TYPESCRIPT = "typescript@5.9.3"
# Two releases of each package, as the registries name them.
NPM = [
    ("effect", "3.18.0", "3.19.0"),
    ("fastify", "5.3.0", "5.6.0"),
    ("@reduxjs/toolkit", "2.5.0", "2.9.0"),
    ("rxjs", "7.5.7", "7.8.1"),
    ("three", "0.179.0", "0.180.0"),
    ("undici", "7.10.0", "7.16.0"),
    ("webpack", "5.101.0", "5.102.0"),
    ("zod", "4.0.0", "4.1.0"),
]
PYPI = [
    ("django", "5.1", "5.2"),
    ("flask", "3.0.0", "3.1.0"),
    ("requests", "2.31.0", "2.32.0"),
    ("rich", "13.7.0", "14.0.0"),
]
# Most files of all whose digest differs and whose declarations do not.
MAX_ALONE = 0.05
# Most files in one command line.
CHUNK = 500


def fetch(root, package):
    """The folder of a release, which is fetched if `root` lacks it."""
    folder = root / package.replace("/", "_")
    if not folder.exists():
        half = root / ".half"
        shutil.rmtree(half, ignore_errors=True)
        (half / "archive").mkdir(parents=True)
        corpora.unpack(corpora.download(package, half / "archive"), half / "release", strip=True)
        (half / "release").rename(folder)
        shutil.rmtree(half)
    return folder


def compiler(root):
    """A folder for NODE_PATH that has the compiler."""
    modules = root / "node_modules"
    modules.mkdir(exist_ok=True)
    release = fetch(root, TYPESCRIPT)
    link = modules / "typescript"
    if not link.exists():
        link.symlink_to(release)
    return modules


def truth(program, older, newer, modules):
    # SHOW=1 is this program's own here.
    environment = {name: value for name, value in os.environ.items() if name != "SHOW"} | {"NODE_PATH": str(modules)}
    command = [*program, str(older), str(newer)]
    text = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(line.split("\t") for line in text.splitlines())


def digests(coord, root, name, release, files):
    """The digest of each file that has one."""
    folder = root / "repositories" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(release / file, folder / file)
    corpora.commit_all(folder)
    found = {}
    for start in range(0, len(files), CHUNK):
        command = [coord, "graph", "--interface", *files[start : start + CHUNK]]
        text = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
        for line in text.splitlines():
            cells = line.split("\t")
            if cells[1] != "-" and len(cells) == 2:
                found[cells[0]] = cells[1]
    shutil.rmtree(folder)
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("coord")
    arguments.add_argument("corpora")
    given = arguments.parse_args()
    coord = str(pathlib.Path(given.coord).resolve())
    root = pathlib.Path(given.corpora).resolve()
    root.mkdir(parents=True, exist_ok=True)
    modules = compiler(root)
    pairs = [(["node", str(HERE / "declarations.cjs")], name, f"{name}@{one}", f"{name}@{two}") for name, one, two in NPM]
    python = [sys.executable, str(HERE / "declarations.py")]
    pairs += [(python, name, f"{name}=={one}", f"{name}=={two}") for name, one, two in PYPI]
    print(f"{'releases':<42}{'files':>6}{'differ':>8}{'recall':>8}{'alone':>7}{'not read':>10}{'unjudged':>10}")
    missed, all_alone, all_files = [], 0, 0
    for program, name, *releases in pairs:
        older, newer = (fetch(root, release) for release in releases)
        verdicts = truth(program, older, newer, modules)
        files = sorted(verdicts)
        before, after = (digests(coord, root, name.replace("/", "_"), release, files) for release in (older, newer))
        # A file that could not be read counts as changed.
        unread = {file for file in files if file not in before or file not in after}
        changed = {file for file in files if file in unread or before[file] != after[file]}
        differ = {file for file in files if verdicts[file] == "differs"}
        alone = {file for file in changed - unread if verdicts[file] == "same"}
        unjudged = sum(verdict == "unknown" for verdict in verdicts.values())
        recall = len(differ & changed) / max(len(differ), 1)
        title = f"{releases[0]} {releases[1].rsplit('@', 1)[-1].rsplit('=', 1)[-1]}"
        print(f"{title:<42}{len(files):>6}{len(differ):>8}{recall:>8.4f}{len(alone):>7}{len(unread):>10}{unjudged:>10}", flush=True)
        missed += [f"{releases[1]}: {file}" for file in sorted(differ - changed)]
        if os.environ.get("SHOW"):
            for file in sorted(alone):
                print(f"    alone: {file}")
        all_alone += len(alone)
        all_files += len(files)
    share = all_alone / max(all_files, 1)
    print(f"{all_files} files; {share:.2%} of the digests differ alone")
    for file in missed:
        print(f"missed: {file}")
    if missed or share > MAX_ALONE or all_files == 0:
        sys.exit("Under the bar: every change is seen, and at most 5 % are seen alone")


if __name__ == "__main__":
    main()
