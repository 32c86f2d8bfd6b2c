"""Intents and entries of the ledger in the requests of schemathesis: see `hooks.py`.

An act is answered with 200 by an intent of one status and with 409 by those of others, so that each operation gets intents of its
own: two of each status, made by real requests before its first call. One login may begin fifty.
"""

from preparation import send

STATUSES = ["PENDING", "IN_PROGRESS", "BLOCKED", "ABANDONED"]
SCOPES = [["src/**"], ["src/auth.ts", "docs/*.md"], ["app/[slug]/**"], ["src/{db,page}.ts"]]
HASH = "sha256:" + "0123456789abcdef" * 4

made = set()


def post(path, body):
    """Sends a request as a person, and ends the check where it is refused."""
    answer = send("POST", path, body)
    assert answer["success"], answer


def make(operation):
    """The intents of `operation`; no scope overlaps another."""
    if operation in made:
        return
    made.add(operation)
    for status in STATUSES:
        for number in range(2):
            name = f"{operation}-{status}-{number}"
            intent = {
                "id": name,
                "name": name,
                "owned_scope": [f"made/{name}/**"],
                "acceptance_criteria": ["Tests pass"] if operation == "meet" else [],
            }
            post("/api/intents", intent)
            if status in ("IN_PROGRESS", "BLOCKED"):
                post(f"/api/intents/{name}/select", {})
            if status in ("BLOCKED", "ABANDONED"):
                act = {"BLOCKED": "block", "ABANDONED": "abandon"}[status]
                post(f"/api/intents/{name}/{act}", {"reason": "It is needed so"})


def made_id(operation, chance):
    return f"{operation}-{STATUSES[next(chance) % 4]}-{next(chance) % 2}"


def change_members(body, chance, operation):
    """Rules that a schema cannot tell: what a pattern may be, no criterion twice, and the names of what is there."""
    if body.get("owned_scope"):
        body["owned_scope"] = SCOPES[next(chance) % 4]
    for field in ("constraints", "acceptance_criteria"):
        if isinstance(body.get(field), list):
            body[field] = list(dict.fromkeys(body[field]))
    if body.get("supplements"):
        make("supplemented")
        body["supplements"] = made_id("supplemented", chance)
    if operation == "edit":
        body["met"], body["unmet"] = [], []
    if operation == "meet":
        evidence = [{"criterion": "Tests pass", "evidence": "cargo test: 12 passed"}]
        body.pop("acceptance_criteria", None)
        body["met"], body["unmet"] = [(evidence, []), ([], ["Tests pass"])][next(chance) % 2]


def change_intent(case, chance):
    """Changes a good request for an intent, or for a new one."""
    operation = "new" if case.operation.path == "/api/intents" else case.operation.path.rpartition("/")[2]
    if operation == "{id}":
        operation = ["edit", "meet"][next(chance) % 2]
    body = case.body
    if operation in ("new", "edit", "meet"):
        change_members(body, chance, operation)
    # Where an earlier response named nothing, the path of a sequence of requests lacks the name.
    is_nameless = operation != "new" and not case.path_parameters.get("id")
    if operation == "meet" or is_nameless or (operation != "new" and next(chance) % 8):
        make(operation)
        case.path_parameters["id"] = made_id(operation, chance)
    # Without an agent it is a person's act.
    if next(chance) % 4:
        body.pop("agent_id", None)
        (case.headers or {}).pop("X-Coord-Agent", None)
    if operation == "complete" and body.get("force") is True and not body.get("reason"):
        body["reason"] = "It is needed so"
    if operation == "allow" and (next(chance) % 8 or body["other"] == case.path_parameters["id"]):
        make("other")
        body["other"] = made_id("other", chance)
        # A sequence of requests may have named the same one.
        if body["other"] == case.path_parameters["id"]:
            body["other"] += "-another"


def change_record(body, files, chance):
    """An entry of some kinds needs members that those of others do without."""
    for entry in body["entries"]:
        if entry["kind"] == "adoption":
            entry.clear()
            entry.update(kind="adoption", hash=HASH, trace_id=HASH[-64:], tool_input={"bytes": 40, "lines": 2})
            continue
        if next(chance) % 2 or len(entry.get("file_path") or "") > 1000:
            entry["file_path"] = files[next(chance) % len(files)]
        if entry["kind"] in ("mutation", "stale"):
            entry["file_path"] = entry.get("file_path") or files[0]
        if entry["kind"] == "mutation":
            entry["hash"] = entry.get("hash") or HASH
        if entry["kind"] == "stale" and entry.get("error_message") is None:
            entry["error_message"] = "The file has changed since it was read"
