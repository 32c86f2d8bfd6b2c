"""The repositories that the import graph is measured on, made from packages of the registries and from the trap suites."""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = {
    "rxjs": "rxjs@7.8.2",
    "three": "three@0.180.0",
    "effect": "effect@3.19.0",
    "webpack": "webpack@5.102.0",
    "django": "django==5.2.8",
}
TRAPS = ["traps", "pytraps"]

# No setting of the machine or of the user has a say in what git commits, nor in what it writes into a worktree.
GIT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
}


def git(folder, *arguments):
    command = ["git", "-c", "init.defaultBranch=main", "-c", "gc.auto=0", *arguments]
    subprocess.run(command, cwd=folder, env=GIT, check=True, stdout=subprocess.DEVNULL)


def commit_all(folder):
    """Makes `folder` a repository with one commit of everything in it."""
    git(folder, "init", "--quiet")
    # A package may come with rules of what to ignore, and of how to convert: all of it counts, as it is.
    git(folder, "-c", "core.autocrlf=false", "-c", "core.safecrlf=false", "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "Add everything")


def download(package, folder):
    """Fetches the archive of `package` by its registry's own client, and returns where it is."""
    if "==" in package:
        # The source distribution: tests are in it, and in no wheel.
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-binary", ":all:", "--dest", str(folder), package]
    else:
        command = ["npm", "pack", "--loglevel=error", "--pack-destination", str(folder), package]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    [archive] = folder.iterdir()
    return archive


def unpack(archive, folder, strip):
    """Unpacks `archive` without the first folder of each name if `strip`, as npm and pip do."""
    folder.mkdir()
    flags = ["--strip-components=1"] if strip else []
    subprocess.run(["tar", "-xzf", str(archive), "-C", str(folder), "--no-same-owner", *flags], check=True)


def prepare(root, names):
    """Makes the repositories that `root` lacks. What was cut off halfway is made anew."""
    root = pathlib.Path(root).resolve()
    root.mkdir(parents=True, exist_ok=True)
    for name in names:
        folder, half = root / name, root / f".{name}.half"
        # A suite of traps is part of this tree and may have changed; a version of a package has not.
        if name in TRAPS:
            shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            # So that the files count as unchanged even if the folder was copied since.
            git(folder, "update-index", "-q", "--refresh")
            continue
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir()
        if name in TRAPS:
            unpack(HERE / f"{name}.tar.gz", half / name, strip=False)
        else:
            (half / "archive").mkdir()
            unpack(download(PACKAGES[name], half / "archive"), half / name, strip=True)
        commit_all(half / name)
        (half / name).rename(folder)
        shutil.rmtree(half)
    return root
