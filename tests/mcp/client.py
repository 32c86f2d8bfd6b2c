"""The session of session.mjs by the Python SDK, over HTTP and over stdio: `client.py 1` by its first generation, `client.py newest` by
the second."""

import asyncio
import contextlib
import json
import os
import re
import sys
from urllib.parse import quote

URL, TOKEN, REPO_URL, HEAD, COORD, FOLDER = (
    os.environ[f"MCP_{name}"] for name in ("URL", "TOKEN", "REPO_URL", "HEAD", "COORD", "FOLDER")
)
MESSAGE = "Moving sessions from cookies to tokens"
TOOLS = [
    "check_status", "message_read", "message_send", "post_status", "select_active_intent", "task_claim", "task_create", "task_list",
    "task_update", "team", "update_intent",
]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def coord_mcp():
    """`coord mcp` in the repository."""
    from mcp import StdioServerParameters

    return StdioServerParameters(command=COORD, args=["mcp", "--tools", "locks,tasks,messages"], cwd=FOLDER)


@contextlib.asynccontextmanager
async def first_generation(way):
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamablehttp_client

    opened = streamablehttp_client(URL, headers=HEADERS) if way == "http" else stdio_client(coord_mcp())
    async with opened as (read, write, *session_id):
        async with ClientSession(read, write) as session:
            hello = await session.initialize()
            assert all(get() is None for get in session_id)
            yield session, hello.protocolVersion, hello.instructions


@contextlib.asynccontextmanager
async def second_generation(way, mode):
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with httpx2.AsyncClient(headers=HEADERS) as http:
        server = streamable_http_client(URL, http_client=http) if way == "http" else coord_mcp()
        async with Client(server, mode=mode) as client:
            yield client, client.protocol_version, client.instructions


def field(value, snake):
    """A field by the name that this generation gives it."""
    camel = re.sub("_(.)", lambda found: found[1].upper(), snake)
    return getattr(value, snake) if hasattr(value, snake) else getattr(value, camel)


async def play(client, instructions, agent, way):
    place = {"repo_url": REPO_URL, "branch": "main", "agent_head": HEAD, "agent_id": agent} if way == "http" else {}
    about = {**place, "file_paths": [f"{agent}.py"]}
    assert "Orchestration commands are law" in instructions
    tools = (await client.list_tools()).tools
    assert sorted(tool.name for tool in tools) == TOOLS

    async def call(tool, **more):
        result = await client.call_tool(tool, {**about, **more})
        return field(result, "structured_content"), result.content[0].text, bool(field(result, "is_error"))

    content, text, is_error = await call("check_status")
    assert content["status"] == "OK" and text.startswith("PROCEED: ") and not is_error, text
    content, _, _ = await call("post_status", status="WRITING", message=MESSAGE)
    assert content["success"] is True, content
    content, text, is_error = await call("post_status", status="WRITING", message=MESSAGE, agent_id="another")
    assert content["error"] == "LOCK_CONFLICT" and text.startswith("WAIT: ") and not is_error, text
    content, text, is_error = await call("check_status", file_paths=["../etc/passwd"])
    assert is_error and content["field"] == "file_paths", text
    templates = field(await client.list_resource_templates(), "resource_templates")
    assert sorted(template.name for template in templates) == ["activity", "graph", "intents", "ledger", "locks", "task", "team"]
    of_http = f"&repo_url={quote(REPO_URL, safe='')}&agent_id={agent}" if way == "http" else ""
    uri = f"coord://locks?holder=me{of_http}"
    locks = json.loads((await client.read_resource(uri)).contents[0].text)["locks"]
    assert [lock["file_path"] for lock in locks] == [f"{agent}.py"], locks
    prompt = await client.get_prompt("coordinate", {"task": "Add a pool"})
    assert prompt.messages[0].content.text.endswith("The task: Add a pool")
    # The one that was refused waits no longer, either.
    for more in [{}, {"agent_id": "another"}]:
        content, _, _ = await call("post_status", status="OPEN", abandon=True, message=MESSAGE, **more)
        assert content["success"] is True, content


async def main(generation):
    for way in ("http", "stdio"):
        if generation == "1":
            sessions = [("python-1", first_generation(way), "2025-")]
        else:
            newest, legacy = second_generation(way, "auto"), second_generation(way, "legacy")
            sessions = [("python-2", newest, "2026-07-28"), ("python-2-legacy", legacy, "2025-")]
        for agent, opened, expected in sessions:
            async with opened as (client, version, instructions):
                assert version.startswith(expected), version
                await play(client, instructions, agent, way)
                print(f"{agent}, {way}: {version}")


asyncio.run(asyncio.wait_for(main(sys.argv[1]), 120))
