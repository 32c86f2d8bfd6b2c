"""Real requests that make the state for those of schemathesis: see `hooks.py`."""

import json
import os
import urllib.parse
import urllib.request


def send(method, path, fields):
    """Sends a request about the served repository; the body of the response. A refusal is an `HTTPError`."""
    url = os.environ["COORD_OPENAPI_URL"] + path
    headers = {"content-type": "application/json"}
    if os.environ.get("COORD_OPENAPI_BY_TOKEN"):
        headers["authorization"] = "Bearer " + os.environ["COORD_OPENAPI_TOKEN"]
    fields = {"repo_url": os.environ["COORD_OPENAPI_REPO_URL"], **fields}
    if method == "DELETE":
        url, data = f"{url}?{urllib.parse.urlencode(fields)}", None
    else:
        data = json.dumps(fields).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)
