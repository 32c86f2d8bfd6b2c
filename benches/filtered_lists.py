#!/usr/bin/env python3
"""What one person that lists a large team does to everybody else: how long a check of another login takes meanwhile.

    python3 benches/filtered_lists.py COORD [--redis URL] [--tasks 20000] [--connections 40] [--seconds 10] [--no-limits]

COORD is a binary of `coord`; compare two of them for before and after. Starts `coord serve` over a new repository, on the embedded
store or on a Redis that may be emptied, makes a team of so many tasks, and measures `POST /api/check_status` of one login: alone,
and while another login sends `GET /api/tasks?text=...`, which no task matches, on so many connections. `--no-limits` turns the limits
of requests off. Prints Markdown."""

import argparse
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time

REPO = "https://github.com/acme/shop.git"
LIMITS = ["COORD_LIMIT_HOLDER_PER_MINUTE", "COORD_LIMIT_PERSON_PER_MINUTE", "COORD_LIMIT_REPOSITORY_PER_MINUTE"]


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout.strip()


def make_repository(folder):
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", REPO)
    (folder / "a.ts").write_text("")
    git(folder, "add", ".")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "a")
    return git(folder, "rev-parse", "HEAD")


class Client:
    def __init__(self, port, login):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"x-coord-user": login, "content-type": "application/json"}

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body and json.dumps(body), self.headers)
        response = self.connection.getresponse()
        return response.status, response.read()

    def post(self, path, **body):
        status, answer = self.ask("POST", path, {"repo_url": REPO, "agent_id": "one", **body})
        if status != 200:
            raise SystemExit(f"{path}: {status} {answer[:300]}")


def free_port():
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def start(options, folder, repository, data, limits):
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COORD_")}
    environment.update({} if limits else dict.fromkeys(LIMITS, "0"))
    store = ["--data-dir", str(data)]
    if options.redis:
        store = ["--redis", options.redis]
    words = [options.coord, "serve", "--repo", str(repository), "--listen", f"127.0.0.1:{port}", *store]
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=(folder / "log").open("w"))
    for _ in range(300):
        try:
            if Client(port, "ann").ask("GET", "/api/health")[0] == 200:
                return process, port
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit((folder / "log").read_text())


def checks(port, head, seconds):
    client, times, end = Client(port, "ann"), [], time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.perf_counter()
        client.post("/api/check_status", branch="main", file_paths=["a.ts"], agent_head=head)
        times.append((time.perf_counter() - begun) * 1000)
        # Below the limit of an agent.
        time.sleep(0.25)
    return sorted(times)


def figures(name, times):
    p99 = times[min(len(times) - 1, int(len(times) * 0.99))]
    return f"| {name} | {len(times)} | {statistics.median(times):.1f} | {p99:.1f} | {times[-1]:.1f} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("coord")
    parser.add_argument("--redis")
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--connections", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--no-limits", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        head = make_repository(folder / "shop")
        process, port = start(options, folder, folder / "shop", folder / "data", limits=False)
        lead = Client(port, "lead")
        lead.post("/api/teams", name="all", team="all")
        for first in range(0, options.tasks, 200):
            tasks = [{"title": f"Task {number}"} for number in range(first, min(first + 200, options.tasks))]
            lead.post("/api/tasks", team="all", tasks=tasks)
        process.terminate()
        process.wait()
        process, port = start(options, folder, folder / "shop", folder / "data", limits=not options.no_limits)
        alone = checks(port, head, options.seconds)
        is_over, counts = threading.Event(), []

        def lists():
            client, answers = Client(port, "eve"), {}
            while not is_over.is_set():
                status, _ = client.ask("GET", f"/api/tasks?repo_url={REPO}&team=all&text=nothing")
                answers[status] = answers.get(status, 0) + 1
            counts.append(answers)

        threads = [threading.Thread(target=lists) for _ in range(options.connections)]
        for thread in threads:
            thread.start()
        beside = checks(port, head, options.seconds)
        is_over.set()
        for thread in threads:
            thread.join()
        process.terminate()
        process.wait()
    total = {status: sum(answers.get(status, 0) for answers in counts) for status in {s for a in counts for s in a}}
    print("| check_status | count | median, ms | p99, ms | max, ms |\n|---|---:|---:|---:|---:|")
    print(figures("alone", alone))
    print(figures(f"beside {options.connections} connections of lists, answered {total}", beside))


if __name__ == "__main__":
    main()
