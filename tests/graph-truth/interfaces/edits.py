#!/usr/bin/env python3
"""Whether an edit that changes declarations ever leaves the digest of an interface as it is: `edits.py COORD CORPORA`.

Makes random edits of files of the releases that `check.py` fetches: tokens and lines are removed, repeated, exchanged or put in. The
compiler of TypeScript or the parser of Python says whether the declarations before and after an edit differ (`declarations.cjs`,
`declarations.py`), and `coord graph --interface` whether the digests do, as the hooks do before an edit. Fails where
declarations differ and digests do not: such a claim would keep an interface that it changes. What Coord does not read counts as
changed, and what the compiler does not read is left out.

--seed N makes other edits, SHOW=1 prints those that were missed."""

import argparse
import difflib
import os
import pathlib
import random
import re
import shutil
import sys

import check

# Releases with sources, and how many edits of each.
EDITED = [
    ("effect@3.19.0", "*.ts", 200),
    ("rxjs@7.8.1", "*.ts", 160),
    ("zod@4.1.0", "*.ts", 100),
    ("three@0.180.0", "*.js", 80),
    ("webpack@5.102.0", "*.js", 80),
    ("django==5.2", "*.py", 160),
]
SEED = 33
# Larger files cost the compiler more than they tell.
MAX_BYTES = 40_000
# Of the edits, so many must differ in their declarations: otherwise the check tells nothing.
LEAST_DIFFERENT = 0.1
TOKEN = re.compile(r"""[A-Za-z_$][\w$]*|\d+|\s+|"[^"\n]*"|'[^'\n]*'|=>|\*\*|//[^\n]*|[^\w\s]""")
# A line that may declare something: most edits are there, because most lines are of bodies and comments.
HEAD = re.compile(
    r"\s*(export|import|declare|public|protected|static|abstract|readonly|async|get|set|function|class|interface|type|enum|def|from"
    r"|[A-Za-z_$][\w$]*\??\s*[:=(<])"
)
WORDS = {
    "*.ts": ["export", "async", "static", "readonly", "private", "abstract", "?", "default", "string", "number", "null |", "[]"],
    "*.js": ["export", "async", "static", "default", "*", "null", "0"],
    "*.py": ["async", "*", "None", "_", "@staticmethod\n", "= None", ": int", "str"],
}


def with_tokens(text, numbers, words):
    """The text after an edit of a token of one line."""
    lines = text.split("\n")
    full = [place for place, line in enumerate(lines) if line.strip() and not line.strip().startswith(("*", "/", "#"))]
    heads = [place for place in full if HEAD.match(lines[place])]
    place = numbers.choice(heads if heads and numbers.random() < 0.8 else full)
    tokens = TOKEN.findall(lines[place])
    names = [token for token in TOKEN.findall(text) if re.match(r"[A-Za-z_$]", token)]
    solid = [at for at, token in enumerate(tokens) if not token.isspace()]
    named = [at for at in solid if re.match(r"[A-Za-z_$]", tokens[at])] or solid
    kind = numbers.randrange(6)
    if kind == 0:
        tokens[numbers.choice(solid)] = ""
    elif kind == 1:
        tokens[numbers.choice(solid)] *= 2
    elif kind == 2:
        tokens[numbers.choice(named)] = numbers.choice(names)
    elif kind == 3:
        tokens[numbers.choice(named)] += "2"
    elif kind == 4:
        at = numbers.choice(solid)
        tokens[at] = f"{numbers.choice(words)} {tokens[at]}"
    else:
        lines[place : place + 1] = []
    if kind < 5:
        lines[place] = "".join(tokens)
    return "\n".join(lines)


def with_lines(text, numbers):
    """The text after an edit of some of its lines."""
    lines = text.split("\n")
    at, length = numbers.randrange(len(lines)), numbers.choice([1, 1, 1, 2, 5])
    part = lines[at : at + length]
    kind = numbers.randrange(3)
    if kind == 0:
        lines[at : at + length] = []
    elif kind == 1:
        lines[at:at] = part
    else:
        lines[at : at + length] = []
        to = numbers.randrange(len(lines) + 1)
        lines[to:to] = part
    return "\n".join(lines)


def edited(text, ending, numbers):
    """A text that is another one."""
    while True:
        new = with_tokens(text, numbers, WORDS[ending]) if numbers.random() < 0.7 else with_lines(text, numbers)
        if new != text:
            return new


def make(root, release, ending, count, seed):
    """Two folders of `count` files each, before and after an edit of each."""
    texts = []
    for path in sorted(release.rglob(ending)):
        is_one = path.is_file() and not path.name.endswith(".d.ts") and 200 < path.stat().st_size < MAX_BYTES
        if is_one and path.suffix in (".ts", ".js", ".py"):
            texts.append(path)
    numbers = random.Random(f"{seed} {release.name}")
    folders = [root / "edits" / side for side in ("before", "after")]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    for number in range(count):
        path = numbers.choice(texts)
        text = path.read_text(errors="replace")
        for folder, content in zip(folders, (text, edited(text, ending, numbers))):
            file = folder / f"{number:04}" / path.name
            file.parent.mkdir(parents=True)
            file.write_text(content)
    return folders


def missed(verdicts, before, after):
    """The files whose declarations differ and whose digests do not. What has no digest counts as changed."""
    different = [file for file, verdict in sorted(verdicts.items()) if verdict == "differs"]
    return [file for file in different if file in before and before[file] == after.get(file)]


def show(folders, file):
    texts = [(folder / file).read_text().splitlines() for folder in folders]
    print("\n".join(difflib.unified_diff(*texts, file, file, lineterm="", n=1)))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("coord")
    arguments.add_argument("corpora")
    arguments.add_argument("--seed", type=int, default=SEED)
    given = arguments.parse_args()
    coord = str(pathlib.Path(given.coord).resolve())
    root = pathlib.Path(given.corpora).resolve()
    root.mkdir(parents=True, exist_ok=True)
    modules = check.compiler(root)
    print(f"{'random edits of':<42}{'edits':>6}{'differ':>8}{'missed':>8}{'alone':>7}{'unjudged':>10}")
    all_missed, all_edits, all_different = [], 0, 0
    for name, ending, count in EDITED:
        folders = make(root, check.fetch(root, name), ending, count, given.seed)
        reader = [sys.executable, "declarations.py"] if ending == "*.py" else ["node", "declarations.cjs"]
        program = [reader[0], str(check.HERE / reader[1])]
        verdicts = check.truth(program, *folders, modules)
        files = sorted(verdicts)
        if len(files) < count:
            sys.exit(f"{name}: {count - len(files)} of {count} edits were not judged")
        before, after = (check.digests(coord, root, "edits", folder, files) for folder in folders)
        different = [file for file in files if verdicts[file] == "differs"]
        # A comparison that sees no change must fail here.
        if len(missed(verdicts, before, before)) < len(different) / 2:
            sys.exit(f"{name}: the check would not notice a comparison that sees nothing")
        found = missed(verdicts, before, after)
        alone = [file for file in files if verdicts[file] == "same" and file in after and before.get(file) != after[file]]
        unjudged = sum(verdict == "unknown" for verdict in verdicts.values())
        print(f"{name:<42}{count:>6}{len(different):>8}{len(found):>8}{len(alone):>7}{unjudged:>10}", flush=True)
        for file in found if os.environ.get("SHOW") else []:
            show(folders, file)
        all_missed += [f"{name}: {file}" for file in found]
        all_edits += count
        all_different += len(different)
    shutil.rmtree(root / "edits")
    for file in all_missed:
        print(f"missed: {file}")
    if all_missed or all_different < LEAST_DIFFERENT * all_edits:
        sys.exit(f"Under the bar: {len(all_missed)} edits missed; {all_different} of {all_edits} edits change declarations")


if __name__ == "__main__":
    main()
