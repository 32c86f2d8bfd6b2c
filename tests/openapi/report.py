"""Prints how often each status was seen: `report.py NAME COUNTS`. Ends with 1 where the good answer of an operation never was."""

import json
import sys

NEEDED = {
    "POST /api/check_status": [200, 400],
    "POST /api/post_status": [200, 400, 409],
    "GET /api/graph": [200, 400, 404],
    "GET /api/locks": [200, 400, 404],
    "GET /api/cron_cleanup": [200, 401],
    "GET /api/health": [200],
    # Deliveries are taken where GitHub is read alone; what they say is tested in cli/tests/github.
    "POST /api/github_webhook": [401],
}

name, path = sys.argv[1:]
with open(path) as file:
    counts = json.load(file)
with open("public/openapi.json") as file:
    document = json.load(file)
missing = []
print(f"\nStatuses seen, {name}:")
for path, operations in sorted(document["paths"].items()):
    for method in operations:
        operation = f"{method.upper()} {path}"
        asked = {key: count for key, count in counts.items() if key.split()[1] == path}
        seen = {}
        for key, count in asked.items():
            sent, _, status = key.split()
            seen.setdefault(int(status) if sent == method.upper() else f"{status} to other methods", 0)
            seen[int(status) if sent == method.upper() else f"{status} to other methods"] += count
        shown = ", ".join(f"{status}: {count}" for status, count in sorted(seen.items(), key=lambda item: str(item[0])))
        print(f"  {operation:24} {shown}")
        if operation not in NEEDED:
            missing.append(f"{operation}: say in tests/openapi/report.py which answers must be seen")
        missing += [f"{operation}: {status} was never seen" for status in NEEDED.get(operation, []) if status not in seen]
print("\n".join(missing))
sys.exit(bool(missing))
