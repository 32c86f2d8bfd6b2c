"""The tools of a Coord deployment as an MCP server for Dedalus Labs' platform.

Every person gives the platform a GitHub token once. The platform keeps it encrypted, and adds it to the requests of that person's agents
as `X-API-Key`: this process never sees it. Locks are therefore held by people, and not by the proxy. The proxy has no state.

    COORD_URL                      the deployment: https://YOUR-PROJECT.vercel.app
    DEDALUS_AUTHORIZATION_SERVER   who issues the tokens of agents: https://as.dedaluslabs.ai unless set
    DEDALUS_DISPATCH_URL           set by the platform, as is PORT

Tools, descriptions and schemas are those of the deployment's own /openapi.json, which is read once, at the start. While the deployment
cannot be reached, the proxy starts all the same, with shorter descriptions, and its tools answer OFFLINE.
"""

import asyncio
import json
import os
import sys
from http.client import HTTPException
from urllib.parse import urlsplit
from urllib.request import urlopen

from dedalus_mcp import Connection, HttpMethod, HttpRequest, MCPServer, SecretKeys, get_context, tool
from dedalus_mcp.types import CallToolResult, TextContent

DOCUMENT_BYTES = 4 * 1024 * 1024
# The platform's gateway waits for 30 seconds, and a deployment answers within 25.
TIMEOUT_MS = 30_000
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
TOOLS = ["check_status", "post_status"]
# What the tools are without the deployment's document.
SHORT = {
    "check_status": "Ask whether files can be edited, before planning an edit.",
    "post_status": "Claim files with WRITING before editing them, and release them with OPEN after the push.",
}
STRING = {"type": "string"}
REQUIRED = {
    "repo_url": STRING,
    "branch": STRING,
    "file_paths": {"type": "array", "items": STRING},
    "agent_head": STRING,
    "agent_id": STRING,
}
CLAIM = {"status": {"enum": ["READING", "WRITING", "OPEN"]}, "message": STRING}


def coord_url():
    """The address in COORD_URL, by https unless it is this machine."""
    url = os.environ.get("COORD_URL", "").rstrip("/")
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    if not parts.hostname or not (parts.scheme == "https" or is_local) or parts.path or parts.query:
        sys.exit("COORD_URL must be the address of a Coord deployment, such as https://coord.example.com")
    return url


def read_document(url):
    """The OpenAPI document of the deployment, or None where it cannot be read. It is public: no credential is sent."""
    try:
        with urlopen(f"{url}/openapi.json", timeout=10) as response:
            text = response.read(DOCUMENT_BYTES + 1)
        if len(text) > DOCUMENT_BYTES:
            raise ValueError(f"larger than {DOCUMENT_BYTES} bytes")
        return json.loads(text)
    except (OSError, HTTPException, ValueError) as error:
        print(f"{url}/openapi.json cannot be read: {error}. Restart the proxy for the full descriptions.", file=sys.stderr)
        return None


def inlined(document, schema):
    """`schema` with the schemas that it refers to in place of the references."""
    if isinstance(schema, list):
        return [inlined(document, part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {name: inlined(document, part) for name, part in schema.items() if name != "$ref"}
    if "$ref" not in schema:
        return rest
    name = schema["$ref"].rsplit("/", 1)[-1]
    return inlined(document, document["components"]["schemas"][name]) | rest


def described(document, name):
    """The description and the schema of the tool `name`."""
    if document is None:
        required = REQUIRED | (CLAIM if name == "post_status" else {})
        return SHORT[name], {"type": "object", "properties": required, "required": list(required)}
    operation = document["paths"][f"/api/{name}"]["post"]
    schema = inlined(document, operation["requestBody"]["content"]["application/json"]["schema"])
    # All agents of a person have one credential: without names they would be one holder.
    schema["required"].append("agent_id")
    return f"{operation['summary']}\n{operation['description']}", schema


def make_tool(document, connection, name):
    """The tool `name`, as the document describes its route."""
    description, schema = described(document, name)

    @tool(name, description=description, input_schema=schema)
    async def call(**arguments):
        return await call_coord(connection, name, arguments)

    return call


async def call_coord(connection, name, arguments):
    """Calls the deployment's own tool, by MCP without a session. What it answers is the result."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    request = HttpRequest(method=HttpMethod.POST, path="/api/mcp", body=call, headers=HEADERS, timeout_ms=TIMEOUT_MS)
    dispatched = await get_context().dispatch(connection, request)
    if not dispatched.success:
        return offline(name, dispatched.error.code.value)
    match dispatched.response.body:
        case {"result": {"content": [*_]} as result}:
            return CallToolResult.model_validate(result)
        # The credential was refused, or the deployment did not answer in time.
        case {"orchestration": {"action": str(action), "reason": str(reason)}}:
            return CallToolResult(content=[TextContent(type="text", text=f"{action}: {reason}")], isError=True)
        case _:
            return offline(name, f"status {dispatched.response.status}")


def offline(name, cause):
    """The documented answer where nothing is known of locks. `cause` is a code, because a sentence could name a credential."""
    warning = f"OFFLINE_MODE: Coord is unreachable ({cause}). Reading allowed, Writing disabled."
    orchestration = {"type": "orchestration_command", "action": "STOP", "command": None, "reason": warning}
    content = {"orchestration": orchestration}
    if name == "check_status":
        content |= {"status": "OFFLINE", "locks": {}, "held": {}}
    else:
        content |= {"success": False, "orphaned_dependencies": []}
    content |= {"repo_head": None, "repo_head_ref": None, "warnings": [warning]}
    return CallToolResult(content=[TextContent(type="text", text=f"STOP: {warning}")], structuredContent=content)


def build():
    """The server, and its connection to Coord."""
    url = coord_url()
    document = read_document(url)
    connection = Connection(
        "coord",
        secrets=SecretKeys(token="GITHUB_TOKEN"),
        base_url=url,
        timeout_ms=TIMEOUT_MS,
        auth_header_name="X-API-Key",
        auth_header_format="{api_key}",
    )
    server = MCPServer(
        "coord",
        instructions=document and document["info"]["description"],
        connections=[connection],
        authorization_server=os.environ.get("DEDALUS_AUTHORIZATION_SERVER", "https://as.dedaluslabs.ai"),
    )
    server.collect(*(make_tool(document, connection, name) for name in TOOLS))
    return server, connection


if __name__ == "__main__":
    asyncio.run(build()[0].serve(host=os.environ.get("HOST", "0.0.0.0")))
