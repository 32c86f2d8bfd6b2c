"""Requests whose status is known beforehand, so that a status that takes several requests is seen in each run.

Random requests meet a refusal by the rules where chance makes the state for it. Here the state is made: `known.py DOCUMENT COUNTS`
sends each request to `COORD_OPENAPI_URL`, ends with 1 where its status is another one, and checks the response by the document.
"""

import json
import os
import sys
from collections import Counter

import schemathesis

URL = os.environ["COORD_OPENAPI_URL"]
REPO_URL = os.environ["COORD_OPENAPI_REPO_URL"]
HEAD = os.environ["COORD_OPENAPI_HEAD"]
FIRST = os.environ["COORD_OPENAPI_FIRST"]
TOKEN = os.environ["COORD_OPENAPI_TOKEN"] if os.environ.get("COORD_OPENAPI_BY_TOKEN") else None
ELSEWHERE = "https://github.com/acme/elsewhere"
WORK = {"branch": "main", "agent_head": HEAD}
TEAM = {"team": "known"}

schemathesis.checks.load_all_checks()
CHECKS = schemathesis.checks.CHECKS.get_by_names(
    ["status_code_conformance", "content_type_conformance", "response_headers_conformance", "response_schema_conformance"]
)

counts = Counter()
wrong = []
document, counts_path = sys.argv[1:]
schema = schemathesis.openapi.from_path(document)


def send(expected, method, path, agent=None, headers=None, repo_url=REPO_URL, **fields):
    """One request of `agent`: `{name}` in `path` is taken from `fields`, all else is its body or its query."""
    operation = schema[path][method]
    names = {name for name in ("id", "team") if "{%s}" % name in path}
    # `team` is both a name in a path and, below `/api/tasks`, a field.
    in_path = {name: fields.pop(name) for name in names}
    fields = {"repo_url": repo_url, **fields}
    if agent:
        fields["agent_id"] = agent
    headers = dict(headers or {})
    if TOKEN:
        headers["Authorization"] = f"Bearer {TOKEN}"
    reads = method in ("GET", "DELETE")
    parts = {"query": {name: str(value).lower() if value is True else value for name, value in fields.items()}} if reads else {"body": fields}
    case = operation.Case(path_parameters=in_path, headers=headers, **parts)
    if not reads:
        case.media_type = "application/json"
    response = case.call(base_url=URL)
    counts[f"{method} {path} {response.status_code}"] += 1
    if response.status_code != expected:
        wrong.append(path)
        print(f"{method} {path} {fields}: {response.status_code} instead of {expected}: {response.text[:500]}")
    else:
        case.validate_response(response, checks=CHECKS)
    return json.loads(response.content) if response.content else {}, response.headers


def lock_files():
    claim = {**WORK, "status": "WRITING", "message": "A test"}
    send(200, "POST", "/api/post_status", "k-one", file_paths=["src/known.ts"], **claim)
    send(409, "POST", "/api/post_status", "k-two", file_paths=["src/known.ts"], **claim)
    send(200, "POST", "/api/check_status", "k-two", file_paths=["src/known.ts"], **WORK)
    send(404, "POST", "/api/check_status", "k-two", file_paths=["src/known.ts"], repo_url=ELSEWHERE, **WORK)
    send(404, "POST", "/api/post_status", "k-two", file_paths=["src/known.ts"], repo_url=ELSEWHERE, **claim)
    for path in ("/api/locks", "/api/activity"):
        send(200, "GET", path)
        send(404, "GET", path, repo_url=ELSEWHERE)
    _, headers = send(200, "GET", "/api/graph", branch="main")
    send(304, "GET", "/api/graph", branch="main", headers={"If-None-Match": headers["etag"][0]})
    send(404, "GET", "/api/graph", branch="main", repo_url=ELSEWHERE)
    send(404, "GET", "/api/events", repo_url=ELSEWHERE)
    send(200, "POST", "/api/post_status", "k-one", file_paths=["src/known.ts"], **{**claim, "status": "OPEN"}, abandon=True)
    # A person force-releases a lock, which the holder's next call reports.
    send(200, "POST", "/api/post_status", "k-one", file_paths=["src/taken.ts"], **claim)
    send(200, "POST", "/api/post_status", file_paths=["src/taken.ts"], **{**claim, "status": "OPEN"}, force=True)
    send(409, "POST", "/api/check_status", "k-one", file_paths=["src/taken.ts"], **WORK)


def meet():
    """Teams, and who is in them."""
    send(200, "POST", "/api/teams", "lead", name="known")
    send(409, "POST", "/api/teams", "lead", name="Known")
    for agent in ("one", "two", "goes"):
        send(200, "POST", "/api/teams/{team}/join", agent, **TEAM)
    send(404, "POST", "/api/teams/{team}/join", "one", team="nowhere")
    send(200, "POST", "/api/teams/{team}/leave", "goes", **TEAM)
    send(409, "POST", "/api/teams/{team}/leave", "lead", **TEAM)
    send(404, "POST", "/api/teams/{team}/leave", "one", team="nowhere")
    send(200, "GET", "/api/teams")
    _, headers = send(200, "GET", "/api/teams/{team}", **TEAM)
    send(304, "GET", "/api/teams/{team}", headers={"If-None-Match": headers["etag"][0]}, **TEAM)
    send(404, "GET", "/api/teams/{team}", team="nowhere")


def work():
    """Tasks, their files and their edges."""
    made, _ = send(
        200, "POST", "/api/tasks", "lead", **TEAM,
        tasks=[
            {"ref": "pool", "title": "Pool the connections", "files": ["src/db.ts"]},
            {"ref": "use", "title": "Use the pool", "files": ["src/db.ts", "src/auth.ts"], "dependencies": ["pool"]},
            {"title": "Say so", "dependencies": ["use"]},
            {"title": "Something else"},
        ],
    )
    pool, use, say, other = made["ids"]
    send(409, "POST", "/api/tasks", "lead", **TEAM, tasks=[{"ref": "a", "dependencies": ["b"]}, {"ref": "b", "dependencies": ["a"]}])
    send(409, "POST", "/api/tasks", "lead", **TEAM, tasks=[{"title": "Lost", "dependencies": ["t9999"]}])
    send(404, "POST", "/api/tasks", "lead", team="nowhere", tasks=[{"title": "Lost"}])
    _, headers = send(200, "GET", "/api/tasks", "lead", **TEAM)
    send(304, "GET", "/api/tasks", "lead", headers={"If-None-Match": headers["etag"][0]}, **TEAM)
    send(200, "GET", "/api/tasks/{id}", "lead", id=pool, **TEAM)
    send(404, "GET", "/api/tasks/{id}", "lead", id="t9999", **TEAM)
    send(200, "PATCH", "/api/tasks/{id}", "lead", id=pool, description="Ten of them", **TEAM)
    send(409, "PATCH", "/api/tasks/{id}", "lead", id=pool, dependencies=[say], **TEAM)
    send(404, "PATCH", "/api/tasks/{id}", "lead", id="t9999", description="Ten of them", **TEAM)
    send(409, "DELETE", "/api/tasks/{id}", "lead", id=pool, **TEAM)
    # `src/db.ts` is locked by the claim of the first task.
    send(200, "POST", "/api/tasks/{id}/claim", "one", id=pool, **TEAM, **WORK)
    send(409, "POST", "/api/tasks/{id}/claim", "two", id=pool, **TEAM, **WORK)
    send(409, "POST", "/api/tasks/{id}/claim", "two", id=use, **TEAM, **WORK)
    send(404, "POST", "/api/tasks/{id}/claim", "two", id="t9999", **TEAM, **WORK)
    send(200, "POST", "/api/tasks/next", "two", **TEAM, **WORK)
    for end in ("complete", "release"):
        send(409, "POST", f"/api/tasks/{{id}}/{end}", "two", id=pool, **TEAM, **WORK)
        send(404, "POST", f"/api/tasks/{{id}}/{end}", "one", id="t9999", **TEAM, **WORK)
    # Nothing was pushed, so that the task is released, not completed.
    send(409, "POST", "/api/tasks/{id}/complete", "one", id=pool, **TEAM, **WORK, new_repo_head=FIRST)
    send(200, "POST", "/api/tasks/{id}/release", "one", id=pool, note="Not now", abandon=True, **TEAM, **WORK)
    send(200, "POST", "/api/tasks/{id}/complete", "two", id=other, result="It is done", **TEAM, **WORK)
    send(200, "DELETE", "/api/tasks/{id}", "lead", id=pool, unlink=True, **TEAM)
    send(404, "DELETE", "/api/tasks/{id}", "lead", id=pool, **TEAM)


def write():
    message = {"message": "query() is async now"}
    send(200, "POST", "/api/messages", "one", to=["two"], **message, **TEAM)
    send(409, "POST", "/api/messages", "one", to=["nobody"], **message, **TEAM)
    send(404, "POST", "/api/messages", "one", to=["two"], team="nowhere", **message)
    send(200, "POST", "/api/messages/read", "two", cursor=0, **TEAM)
    send(409, "POST", "/api/messages/read", "two", cursor=999_999, **TEAM)
    send(200, "GET", "/api/messages", "two", **TEAM)


def end():
    """The shutdown, after which a team takes no writes."""
    send(200, "PATCH", "/api/teams/{team}", "lead", leader="one", **TEAM)
    send(409, "PATCH", "/api/teams/{team}", "one", leader="nobody", **TEAM)
    send(404, "PATCH", "/api/teams/{team}", "one", leader="two", team="nowhere")
    send(409, "DELETE", "/api/teams/{team}", "one", **TEAM)
    # Who asks has approved.
    asked, _ = send(200, "POST", "/api/teams/{team}/shutdown", "one", step="request", reason="All is done", **TEAM)
    send(409, "POST", "/api/teams/{team}/shutdown", "one", step="approve", shutdown_id="s999", **TEAM)
    send(404, "POST", "/api/teams/{team}/shutdown", "one", step="request", team="nowhere")
    send(409, "POST", "/api/tasks/next", "two", **TEAM, **WORK)
    for agent in ("two", "lead"):
        send(200, "POST", "/api/teams/{team}/shutdown", agent, step="approve", shutdown_id=asked["shutdown_id"], **TEAM)
    send(409, "PATCH", "/api/teams/{team}", "one", leader="two", **TEAM)
    send(409, "POST", "/api/teams/{team}/join", "three", **TEAM)
    send(409, "POST", "/api/messages", "one", to=["two"], message="Is anybody there?", **TEAM)
    send(200, "DELETE", "/api/teams/{team}", "one", **TEAM)
    send(404, "DELETE", "/api/teams/{team}", "one", **TEAM)


for part in (lock_files, meet, work, write, end):
    part()
with open(counts_path, "w") as file:
    json.dump(counts, file)
print(f"{counts.total()} requests with known statuses, {len(wrong)} with another one")
sys.exit(bool(wrong))
