"""Prints how often each status was seen: `report.py NAME COUNTS...`. Ends with 1 where one that must be seen never was."""

import json
import sys
from collections import Counter


def needed(operation):
    """The statuses that must be seen: the good answer, and what bad requests get."""
    schemes = {scheme for choice in operation.get("security", []) for scheme in choice}
    if "webhook_signature" in schemes:
        # Deliveries are taken where GitHub is read alone; what they say is tested in tests/github.
        return [401]
    statuses = {200, 400, 409} | ({404} if "people" in operation["tags"] else set())
    if "101" in operation["responses"]:
        # A stream does not end: hooks.py opens none.
        statuses -= {200}
    statuses |= {401} if "cron_secret" in schemes else set()
    return sorted(status for status in statuses if str(status) in operation["responses"])


name, *paths = sys.argv[1:]
counts = Counter()
for path in paths:
    with open(path) as file:
        counts.update(json.load(file))
with open("public/openapi.json") as file:
    document = json.load(file)
missing = []
print(f"\nStatuses seen, {name}:")
for path, operations in sorted(document["paths"].items()):
    for method, described in operations.items():
        operation = f"{method.upper()} {path}"
        seen = Counter()
        for key, count in counts.items():
            sent, at, status = key.split()
            if at == path:
                seen[int(status) if sent == method.upper() else f"{status} to other methods"] += count
        shown = ", ".join(f"{status}: {count}" for status, count in sorted(seen.items(), key=lambda item: str(item[0])))
        print(f"  {operation:24} {shown}")
        missing += [f"{operation}: {status} was never seen" for status in needed(described) if status not in seen]
print("\n".join(missing))
sys.exit(bool(missing))
