"""What `.ci/check-openapi` does to the requests of schemathesis, and what it counts.

Random text never names the repository that is served, so that every answer would be 404. A good request is therefore given values
of that repository, by the digits of its own hash: the same request is always changed in the same way. A request that is meant to be
bad stays as it is.
"""

import atexit
import hashlib
import json
import os
import sys
import threading
import unicodedata
from collections import Counter

import schemathesis

sys.path.insert(0, os.path.dirname(os.environ["COORD_OPENAPI_HOOKS"]))

import intents  # noqa: E402
import teams  # noqa: E402

REPO_URL = os.environ["COORD_OPENAPI_REPO_URL"]
HEAD = os.environ["COORD_OPENAPI_HEAD"]
FIRST = os.environ["COORD_OPENAPI_FIRST"]
COUNTS = os.environ["COORD_OPENAPI_COUNTS"]
FILES = ["src/auth.ts", "src/db.ts", "src/page.ts"]

counts = Counter()
lock = threading.Lock()


def dice(value):
    """Numbers from 0 to 255 that follow from `value`, without end."""
    digest = json.dumps(value, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    while True:
        digest = hashlib.sha256(digest).digest()
        yield from digest


def too_long(text, most):
    """JSON Schema counts characters, and the server bytes: a limit that a schema cannot tell."""
    return isinstance(text, str) and len(text.encode("utf-8", "surrogatepass")) > most


def plain_numbers(value):
    """JSON Schema takes 1.0 for an integer and knows no largest number, and the server's parser does not take them."""
    if isinstance(value, (int, float)) and abs(value) > 10**300:
        return 10**300
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [plain_numbers(item) for item in value]
    if isinstance(value, dict):
        return {name: plain_numbers(member) for name, member in value.items()}
    return value


def is_unseen_beyond_patterns(character):
    """Invisible characters beyond the first 65,536 are refused, and not all validators could take a pattern that names them."""
    code = ord(character)
    return code > 0xFFFF and (
        0xE0000 <= code <= 0xE0FFF or code & 0xFFFE == 0xFFFE or unicodedata.category(character) == "Cf"
    )


def as_patterns_can_tell(value):
    """`value` without invisible characters that a pattern cannot name."""
    if isinstance(value, str):
        return "".join("x" if is_unseen_beyond_patterns(character) else character for character in value)
    if isinstance(value, list):
        return [as_patterns_can_tell(item) for item in value]
    if isinstance(value, dict):
        return {as_patterns_can_tell(name): as_patterns_can_tell(member) for name, member in value.items()}
    return value


def use_served(fields, chance):
    """Names the repository and the branch that are served: three times out of four, and where a value is too long."""
    if next(chance) % 4:
        fields["repo_url"], fields["branch"] = REPO_URL, "main"
    if too_long(fields.get("repo_url"), 2048):
        fields["repo_url"] = REPO_URL
    if too_long(fields.get("branch"), 255):
        fields["branch"] = "main"


def use_head(fields, chance, path):
    """What the locks on the files of a task need, of which a schema knows nothing."""
    fields["branch"], fields["agent_head"] = "main", [HEAD, HEAD, HEAD, FIRST][next(chance) % 4]
    fields.pop("base_head", None)
    if path.endswith("/complete") or (path.endswith("/release") and fields.get("abandon") is not True):
        fields["new_repo_head"] = HEAD


def change_body(body):
    chance = dice(body)
    use_served(body, chance)
    if next(chance) % 4:
        body["agent_head"] = [HEAD, HEAD, HEAD, FIRST][next(chance) % 4]
        body.pop("base_head", None)
    paths = body["file_paths"]
    # `*` stands for everything that is held, with OPEN and `abandon` alone.
    if next(chance) % 2 or any(too_long(path, 4096) or path == "*" for path in paths):
        body["file_paths"] = FILES[next(chance) % 3 :][: 1 + next(chance) % 2]
    # Two agents, so that they get in each other's way.
    if next(chance) % 2:
        body["agent_id"] = ["one", "two"][next(chance) % 2]
    # Some fields go with some statuses alone, which OpenAPI cannot tell.
    if body.get("take_over") is not None:
        # And this one names the lead of the calling agent, or a writer below it.
        if body.get("status") in ("READING", "WRITING"):
            body["agent_id"], body["take_over"] = "one::writer", "one"
        else:
            body.pop("take_over")
    writes = body.get("status") == "WRITING" or ("status" not in body and body.get("intent") != "READING")
    if not writes:
        body.pop("interface", None)
        body.pop("interface_changes", None)
    elif body.get("interface_changes") is not None:
        # They are some of the files.
        body["interface_changes"] = body["file_paths"][:1]
    if body.get("status") == "OPEN":
        body.pop("wait_seconds", None)
    elif body.get("wait_seconds") is not None:
        # A whole number has no point on the wire, and the time of a run is short.
        body["wait_seconds"] = next(chance) % 2
    # Whether an OPEN needs `new_repo_head` depends on the locks that the caller holds, of which a schema knows nothing: without it
    # and without `abandon` the answer may be 400.
    if body.get("status") == "OPEN" and body.get("new_repo_head") is None and body.get("abandon") is not True:
        if next(chance) % 2:
            body["abandon"] = True
        else:
            body["new_repo_head"] = HEAD
    if body.get("status") == "OPEN" and body.get("abandon") is True and next(chance) % 2:
        body["file_paths"] = ["*"]
    if body.get("status") != "OPEN" or body["file_paths"] == ["*"]:
        body.pop("force", None)


def change_query(query):
    chance = dice(query)
    use_served(query, chance)
    # That `depth` and `direction` need a `focus` is a relation between parameters, which OpenAPI cannot tell.
    needs_focus = ("depth" in query or "direction" in query) and "focus" not in query
    if needs_focus or too_long(query.get("focus"), 4096) or ("focus" in query and next(chance) % 2):
        query["focus"] = FILES[next(chance) % 3]


def change_list(query):
    chance = dice(query)
    use_served(query, chance)
    # `after` and `before` exclude each other, which OpenAPI cannot tell either.
    if "after" in query and "before" in query:
        del query[["after", "before"][next(chance) % 2]]
    if too_long(query.get("file"), 4096):
        query["file"] = FILES[next(chance) % 3]


def change_files(body):
    """Paths that are too long, in bytes or together."""
    chance = dice(body)
    use_served(body, chance)
    if isinstance(body.get("file_paths"), list) and next(chance) % 2:
        body["file_paths"] = FILES[next(chance) % 3 :]
    for file in body.get("files") or []:
        if next(chance) % 2 or too_long(file["file_path"], 1000):
            file["file_path"] = FILES[next(chance) % 3]


def change_ledger(query):
    chance = dice(query)
    use_served(query, chance)
    # `last` excludes the others, which OpenAPI cannot tell.
    if "last" in query and ("after" in query or "limit" in query):
        for name in [["last"], ["after", "limit"]][next(chance) % 2]:
            query.pop(name, None)
    if too_long(query.get("file"), 4096):
        query["file"] = FILES[next(chance) % 3]


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is not None and case.meta.generation.mode.is_positive:
        case.body = as_patterns_can_tell(case.body)
        case.query = as_patterns_can_tell(case.query)
        if isinstance(case.body, dict) and case.operation.path in ("/api/check_status", "/api/post_status"):
            change_body(case.body)
        elif isinstance(case.body, dict) and case.operation.path.startswith(("/api/intents", "/api/ledger")):
            case.body = plain_numbers(case.body)
            chance = dice([case.body, case.path_parameters])
            change_files(case.body)
            if case.operation.path.startswith("/api/intents"):
                intents.change_intent(case, chance)
            elif case.operation.path == "/api/ledger":
                intents.change_record(case.body, FILES, chance)
        elif case.operation.path.startswith(("/api/teams", "/api/tasks", "/api/messages")):
            if isinstance(case.body, dict):
                case.body = plain_numbers(case.body)
            sent = case.body if isinstance(case.body, dict) else case.query
            chance = dice([sent, case.path_parameters])
            use_served(sent, chance)
            if case.operation.path.endswith(("/next", "/claim", "/complete", "/release")):
                use_head(sent, chance, case.operation.path)
            teams.change(case, FILES, chance)
        elif case.operation.path == "/api/ledger" and case.query:
            change_ledger(case.query)
        elif case.operation.path in ("/api/locks", "/api/activity", "/api/events") and case.query:
            change_list(case.query)
        elif case.operation.path == "/api/graph" and case.query:
            change_query(case.query)
    if case.operation.path == "/api/events" and case.query and "repo_url" in case.query:
        # A stream does not end, and schemathesis waits for the end: none is opened.
        if "acme/shop" in str(case.query["repo_url"]).lower():
            case.query["repo_url"] = "https://github.com/acme/nowhere"


@schemathesis.hook
def after_call(context, case, response):
    with lock:
        counts[f"{case.method.upper()} {case.operation.path} {response.status_code}"] += 1


@atexit.register
def write_counts():
    with open(COUNTS, "w") as file:
        json.dump(counts, file)
