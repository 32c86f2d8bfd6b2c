"""Two people's agents through examples/dedalus/proxy.py. The parts of Dedalus' platform that cannot be had here are played: the server
that issues agents' tokens, and the gateway that adds credentials. The gateway's side is what `dedalus_mcp.dispatch` writes of its protocol,
and the header is the one of the envelope that the library makes for it."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time

import httpx
import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

EXAMPLE = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "dedalus", "proxy.py")
COORD = os.environ["MCP_URL"].removesuffix("/api/mcp")
SECRET, REPO_URL, HEAD = (os.environ[name] for name in ("MCP_SECRET", "MCP_REPO_URL", "MCP_HEAD"))
KEY = ec.generate_private_key(ec.SECP256R1())
MESSAGE = "Moving sessions from cookies to tokens"
# What each person has given to the platform for Coord; nil has given nothing.
TOKENS = {
    name: jwt.encode({"sub": name, "aud": "coord", "exp": int(time.time()) + 600}, SECRET, "HS256") for name in ("ann", "bob", "cut")
}
TOKENS["bad"] = jwt.encode({"sub": "ann", "aud": "coord", "exp": int(time.time()) + 600}, SECRET + "0", "HS256")
dispatched = []


def envelopes():
    """The envelopes that the library makes of people's tokens, by the handle of their connection."""
    from dedalus_mcp import SecretValues

    sys.path.insert(0, os.path.dirname(EXAMPLE))
    import proxy

    os.environ["COORD_URL"] = COORD
    _, connection = proxy.build()
    return {f"ddls:conn:{name}": SecretValues(connection, token=token).values_for_encryption() for name, token in TOKENS.items()}


async def keys(_):
    jwk = json.loads(ECAlgorithm.to_jwk(KEY.public_key())) | {"kid": "one", "use": "sig", "alg": "ES256"}
    return JSONResponse({"keys": [jwk]})


async def dispatch(request):
    """The gateway: the person's credential, in the header of the envelope, and nothing of the agent's own token."""
    scheme, token = request.headers["authorization"].split(" ", 1)
    claims = jwt.decode(token, KEY.public_key(), ["ES256"], options={"verify_aud": False})
    sent = await request.json()
    handle, wanted = sent["connection_handle"], sent["request"]
    assert scheme == "Bearer" and handle in claims["ddls:connections"].values()
    envelope = request.app.state.envelopes[handle]
    headers = (wanted["headers"] or {}) | {envelope["header_name"]: envelope["header_template"].format(api_key=envelope["api_key"])}
    assert not {"authorization", "dpop"} & {name.lower() for name in headers}, headers.keys()
    dispatched.append((handle, wanted["method"], wanted["path"], envelope["header_name"]))
    # For `cut` there is no way to the deployment: no server listens there.
    base_url = "http://127.0.0.1:1" if handle == "ddls:conn:cut" else envelope["provider_metadata"]["base_url"]
    try:
        async with httpx.AsyncClient(timeout=wanted["timeout_ms"] / 1000) as client:
            response = await client.request(wanted["method"], base_url + wanted["path"], json=wanted["body"], headers=headers)
    except httpx.ConnectError:
        error = {"code": "DOWNSTREAM_UNREACHABLE", "message": f"no way with {envelope['api_key']}", "retryable": True}
        return JSONResponse({"success": False, "error": error})
    answer = {"status": response.status_code, "headers": dict(response.headers), "body": response.json()}
    return JSONResponse({"success": True, "response": answer})


def eventually(what, attempt):
    """The first value of `attempt` that is not None."""
    for _ in range(300):
        if (value := attempt()) is not None:
            return value
        time.sleep(0.1)
    raise TimeoutError(what)


def start_platform():
    app = Starlette(routes=[Route("/.well-known/jwks.json", keys), Route("/dispatch", dispatch, methods=["POST"])])
    app.state.envelopes = envelopes()
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    eventually("the platform listens", lambda: server.started or None)
    return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"


@contextlib.contextmanager
def start_proxy(platform, coord=COORD):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "COORD_URL": coord,
        "DEDALUS_AUTHORIZATION_SERVER": platform,
        "DEDALUS_DISPATCH_URL": platform,
        "HOST": "127.0.0.1",
        "PORT": str(port),
    }
    process = subprocess.Popen([sys.executable, EXAMPLE], env=os.environ | settings)
    url = f"http://127.0.0.1:{port}/mcp"

    def answers():
        assert process.poll() is None, "the proxy has ended"
        with contextlib.suppress(httpx.HTTPError):
            return httpx.post(url, json={}).status_code

    try:
        assert eventually("the proxy listens", answers) == 401, "an agent without a token"
        yield url
    finally:
        process.terminate()
        process.wait(10)


@contextlib.asynccontextmanager
async def agent(platform, url, person, connections):
    now = int(time.time())
    claims = {"iss": platform, "sub": person, "iat": now, "exp": now + 600, "ddls:connections": connections}
    token = jwt.encode(claims, KEY, "ES256", headers={"kid": "one", "typ": "at+jwt"})
    async with streamablehttp_client(url, headers={"Authorization": f"Bearer {token}"}) as (read, write, _):
        async with ClientSession(read, write) as session:
            await session.initialize()

            async def call(tool, **more):
                about = {"repo_url": REPO_URL, "branch": "main", "agent_head": HEAD, "file_paths": ["dedalus.py"], "agent_id": "one"}
                result = await session.call_tool(tool, about | more)
                return result.structuredContent, result.content[0].text, result.isError

            yield session, call


async def assert_tools(session):
    """The proxy has two tools, and each requires an agent. Returns the schemas of their arguments."""
    schemas = {tool.name: tool.inputSchema for tool in (await session.list_tools()).tools}
    assert sorted(schemas) == ["check_status", "post_status"], schemas
    assert all("agent_id" in schema["required"] for schema in schemas.values()), schemas
    return schemas


async def assert_offline(call):
    """Both tools report that the deployment cannot be reached. Returns both results, and the text of the second."""
    checked, text, is_error = await call("check_status")
    assert checked["status"] == "OFFLINE" and not is_error and text.startswith("STOP: OFFLINE_MODE: "), text
    posted, text, _ = await call("post_status", status="WRITING", message=MESSAGE)
    assert posted["success"] is False and posted["orchestration"]["action"] == "STOP", posted
    return checked, posted, text


async def play(platform, url):
    def of(person):
        return agent(platform, url, person, {"coord": f"ddls:conn:{person}"})

    async with of("ann") as (session, ann), of("bob") as (_, bob):
        assert "$ref" not in json.dumps(await assert_tools(session))
        content, text, is_error = await ann("post_status", status="WRITING", message=MESSAGE)
        assert content["success"] is True and text.startswith("PROCEED: ") and not is_error, text
        content, text, _ = await bob("check_status")
        lock = content["locks"]["dedalus.py"]
        assert (lock["user"], lock["message"]) == ("ann", MESSAGE) and text.startswith("SWITCH_TASK: "), text
        content, text, is_error = await bob("post_status", status="WRITING", message=MESSAGE)
        assert content["error"] == "LOCK_CONFLICT" and text.startswith("WAIT: ") and not is_error, text
        _, text, is_error = await bob("check_status", file_paths=["../etc/passwd"])
        assert is_error and "file_paths" in text, text
        release = {"status": "OPEN", "abandon": True}
        for call, fields in ((ann, release), (bob, {"status": "WRITING"}), (bob, release)):
            content, _, _ = await call("post_status", message=MESSAGE, **fields)
            assert content["success"] is True, content
    assert {request[1:] for request in dispatched} == {("POST", "/api/mcp", "X-API-Key")}, dispatched
    async with of("bad") as (_, bad):
        _, text, is_error = await bad("check_status")
        assert is_error and text.startswith("STOP: ") and "JWT" in text and TOKENS["bad"] not in text, text
    async with agent(platform, url, "nil", {}) as (_, nil):
        _, text, is_error = await nil("check_status")
        assert is_error and "Connection 'coord' not found" in text, text
    async with of("cut") as (_, cut):
        checked, posted, text = await assert_offline(cut)
        assert_whole("CheckResponse", checked)
        assert_whole("PostResponse", posted)
        assert "DOWNSTREAM_UNREACHABLE" in text and TOKENS["cut"] not in text, text


def assert_whole(name, content):
    """All members that the deployment's own schema requires are there."""
    required = httpx.get(f"{COORD}/openapi.json").json()["components"]["schemas"][name]["required"]
    assert set(required) <= set(content), (name, content)


async def play_down(platform, url):
    """The deployment was down when the proxy started."""
    async with agent(platform, url, "cut", {"coord": "ddls:conn:cut"}) as (session, cut):
        await assert_tools(session)
        await assert_offline(cut)


wrong = os.environ | {"COORD_URL": "http://coord.example.com"}
refused = subprocess.run([sys.executable, EXAMPLE], env=wrong, capture_output=True, text=True, timeout=60)
assert refused.returncode == 1 and "COORD_URL must be" in refused.stderr, refused
platform = start_platform()
with start_proxy(platform) as url:
    asyncio.run(asyncio.wait_for(play(platform, url), 120))
# Nobody listens on the port of a socket that is bound and does not listen.
with socket.socket() as unused:
    unused.bind(("127.0.0.1", 0))
    with start_proxy(platform, f"http://127.0.0.1:{unused.getsockname()[1]}") as url:
        asyncio.run(asyncio.wait_for(play_down(platform, url), 120))
print(f"dedalus-mcp: {len(dispatched)} requests of people with credentials of their own")
