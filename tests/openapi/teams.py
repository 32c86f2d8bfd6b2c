"""Teams, tasks and messages in the requests of schemathesis: see `hooks.py`.

What a request is answered with depends on the team, on who is in it and on who has the task. Each operation gets a team, a member
and a task of its own, made by real requests before its call.
"""

import os
from itertools import count
from urllib.error import HTTPError

from preparation import send

TEAM = "made"
LEAD = "lead"

numbers = count(1)
made = set()


def ask(method, path, body, agent=LEAD):
    """Sends a request of `agent`; the answer, or none where it is refused."""
    try:
        return send(method, path, {"agent_id": agent, **body})
    except HTTPError as error:
        assert error.code in (403, 404, 409), (path, error.read())
        return None


def make_team(name):
    ask("DELETE", f"/api/teams/{name}", {})
    ask("POST", "/api/teams", {"name": name})


def make_task(is_claimed):
    """A new task of the team with a file of its own, as the leader has it or not."""
    number = next(numbers)
    files = [f"made/{number}.ts"] if number % 2 else []
    task = ask("POST", "/api/tasks", {"team": TEAM, "tasks": [{"title": "Made for a request", "files": files}]})
    task = task["ids"][0] if task else "t1"
    if is_claimed:
        head = os.environ["COORD_OPENAPI_HEAD"]
        ask("POST", f"/api/tasks/{task}/claim", {"team": TEAM, "branch": "main", "agent_head": head})
    return task


def begin():
    if TEAM in made:
        return
    made.add(TEAM)
    make_team(TEAM)
    ask("POST", f"/api/teams/{TEAM}/join", {}, "one")
    ask("POST", "/api/messages", {"team": TEAM, "to": ["one"], "message": "Made for a request"})


def change_team(case, chance):
    """A request about a team that the path or the body names."""
    operation = case.operation.path.removeprefix("/api/teams").removeprefix("/{team}").strip("/")
    sent = case.body if isinstance(case.body, dict) else case.query
    if case.operation.path == "/api/teams":
        if case.method.upper() == "POST":
            # A handle is required where the agent's id is none.
            sent["handle"] = sent.get("handle") or LEAD
            if next(chance) % 2:
                sent["name"] = f"new-{next(numbers) % 40}"
        return
    team, agent = TEAM, LEAD
    if operation == "join":
        sent["handle"] = sent.get("handle") or "one"
        if next(chance) % 2:
            agent = sent["handle"] = f"joins-{next(numbers)}"
    elif operation == "leave":
        # The leader cannot leave.
        if next(chance) % 4:
            agent = f"leaves-{next(numbers)}"
            ask("POST", f"/api/teams/{team}/join", {}, agent)
    elif operation == "shutdown":
        team = "ends"
        make_team(team)
        # Which members a step needs is a relation between them, which a schema cannot tell.
        if sent["step"] != "request":
            sent["shutdown_id"] = sent.get("shutdown_id") or "s1"
        if sent["step"] == "reject":
            sent["reason"] = sent.get("reason") or "It is not done"
        if sent["step"] == "request" and next(chance) % 2:
            sent.pop("target", None)
    elif case.method.upper() == "PATCH" and next(chance) % 2:
        sent["leader"] = LEAD
    elif case.method.upper() == "DELETE" and next(chance) % 4:
        team = "goes"
        make_team(team)
    # Where an earlier response named nothing, the path of a sequence of requests lacks the name.
    if next(chance) % 8 or not case.path_parameters.get("team"):
        case.path_parameters["team"] = team
        if case.method.upper() != "GET":
            sent["agent_id"] = agent


def change_new_tasks(body, files, chance):
    seen = set()
    for task in body["tasks"]:
        if task.get("ref") in seen:
            task.pop("ref", None)
        seen.add(task.get("ref"))
        if task.get("files") and (next(chance) % 2 or any(len(file.encode()) > 1000 for file in task["files"])):
            task["files"] = files
        if len((task.get("branch") or "").encode()) > 255:
            task["branch"] = "main"
        if next(chance) % 4:
            # What other tasks are there, a schema does not know.
            for field in ("id", "dependencies", "blocks"):
                task.pop(field, None)


def change_task(case, files, chance):
    """A request about the tasks of a team, or one of them."""
    path, method = case.operation.path, case.method.upper()
    sent = case.body if isinstance(case.body, dict) else case.query
    if path == "/api/tasks" and method == "POST":
        change_new_tasks(sent, files, chance)
    elif path == "/api/tasks" and sent.get("file") and len(sent["file"].encode()) > 4096:
        sent["file"] = files[0]
    elif path == "/api/tasks/next":
        make_task(False)
    if method == "PATCH":
        # It is sent alone.
        if sent.get("assignee") is not None and next(chance) % 2:
            for field in list(sent):
                if field not in ("assignee", "repo_url", "agent_id", "team"):
                    sent.pop(field)
            sent["assignee"] = ["one", ""][next(chance) % 2]
        else:
            sent.pop("assignee", None)
        if sent.get("files") and any(len(file.encode()) > 1000 for file in sent["files"]):
            sent["files"] = files
        if len((sent.get("branch") or "").encode()) > 255:
            sent["branch"] = "main"
        if next(chance) % 2:
            for field in ("status", "dependencies", "blocks"):
                sent.pop(field, None)
    if "{id}" in path and (next(chance) % 8 or not case.path_parameters.get("id")):
        task = make_task(path.endswith(("/complete", "/release")))
        case.path_parameters["id"] = task
        if method == "DELETE" and next(chance) % 2:
            ask("POST", "/api/tasks", {"team": TEAM, "tasks": [{"dependencies": [task]}]})
        if next(chance) % 2:
            sent.pop("token", None)


def change_message(case, chance):
    path, method = case.operation.path, case.method.upper()
    sent = case.body if isinstance(case.body, dict) else case.query
    if path == "/api/messages" and method == "POST":
        # Recipients depend on the type.
        if sent.get("type") == "idle":
            sent.pop("to", None)
        elif next(chance) % 2 or not sent.get("to") or any(to.lower() == "broadcast" for to in sent["to"]):
            sent["to"] = [["one"], ["broadcast"]][next(chance) % 2]
    elif path == "/api/messages/read":
        # The newest message is hardly the one that a schema names.
        sent["cursor"] = [None, 0, 999_999][next(chance) % 3]


def change(case, files, chance):
    """Changes a good request."""
    begin()
    sent = case.body if isinstance(case.body, dict) else case.query
    if isinstance(sent.get("wait"), int):
        # Each would last as long as it says.
        sent["wait"] = 0
    if case.operation.path.startswith("/api/teams"):
        change_team(case, chance)
        return
    # Who is in no team, or in several, has to name it.
    sent["team"] = TEAM
    if case.method.upper() != "GET" and next(chance) % 8:
        # A member has 50 claims at most.
        sent["agent_id"] = "one" if case.operation.path.endswith(("/next", "/claim")) else LEAD
    if case.operation.path.startswith("/api/tasks"):
        change_task(case, files, chance)
    else:
        change_message(case, chance)
