"""The session of session.mjs by the Python SDK: `client.py 1` by its first generation, `client.py newest` by the second."""

import asyncio
import contextlib
import json
import os
import re
import sys
from urllib.parse import quote

URL, TOKEN, REPO_URL, HEAD = (os.environ[name] for name in ("MCP_URL", "MCP_TOKEN", "MCP_REPO_URL", "MCP_HEAD"))
MESSAGE = "Moving sessions from cookies to tokens"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@contextlib.asynccontextmanager
async def first_generation():
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with streamablehttp_client(URL, headers=HEADERS) as (read, write, session_id):
        async with ClientSession(read, write) as session:
            hello = await session.initialize()
            assert session_id() is None
            yield session, hello.protocolVersion, hello.instructions


@contextlib.asynccontextmanager
async def second_generation(mode):
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with httpx2.AsyncClient(headers=HEADERS) as http:
        async with Client(streamable_http_client(URL, http_client=http), mode=mode) as client:
            yield client, client.protocol_version, client.instructions


def field(value, snake):
    """A field by the name that this generation gives it."""
    camel = re.sub("_(.)", lambda found: found[1].upper(), snake)
    return getattr(value, snake) if hasattr(value, snake) else getattr(value, camel)


async def play(client, instructions, agent):
    about = {"repo_url": REPO_URL, "branch": "main", "agent_head": HEAD, "file_paths": [f"{agent}.py"], "agent_id": agent}
    assert "Orchestration commands are law" in instructions
    tools = (await client.list_tools()).tools
    assert sorted(tool.name for tool in tools) == ["check_status", "post_status"]

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
    assert sorted(template.name for template in templates) == ["activity", "graph", "locks"]
    uri = f"coord://locks?repo_url={quote(REPO_URL, safe='')}&holder=me&agent_id={agent}"
    locks = json.loads((await client.read_resource(uri)).contents[0].text)["locks"]
    assert [lock["file_path"] for lock in locks] == [f"{agent}.py"], locks
    prompt = await client.get_prompt("coordinate", {"task": "Add a pool"})
    assert prompt.messages[0].content.text.endswith("The task: Add a pool")
    content, _, _ = await call("post_status", status="OPEN", abandon=True, message=MESSAGE)
    assert content["success"] is True, content


async def main(generation):
    if generation == "1":
        sessions = [("python-1", first_generation(), "2025-")]
    else:
        newest, legacy = second_generation("auto"), second_generation("legacy")
        sessions = [("python-2", newest, "2026-07-28"), ("python-2-legacy", legacy, "2025-")]
    for agent, opened, expected in sessions:
        async with opened as (client, version, instructions):
            assert version.startswith(expected), version
            await play(client, instructions, agent)
            print(f"{agent}: {version}")


asyncio.run(asyncio.wait_for(main(sys.argv[1]), 120))
