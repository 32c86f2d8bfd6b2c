"""Compares what names a release: `check.py PLAN`, with the plan of `dist plan --output-format=json`."""

import glob
import json
import re
import sys
import tomllib

TARGETS = [
    "aarch64-apple-darwin",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "x86_64-unknown-linux-musl",
]
# The fields of https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json that are used here.
SERVER = {"$schema", "name", "title", "description", "repository", "version", "packages", "remotes"}
PACKAGE = {
    "registryType",
    "registryBaseUrl",
    "identifier",
    "version",
    "runtimeHint",
    "transport",
    "packageArguments",
    "environmentVariables",
}
INPUT = {"name", "value", "description", "isRequired", "isSecret", "placeholder", "variables"}


def read(path):
    with open(path, "rb") as file:
        return tomllib.load(file) if path.endswith(".toml") else json.load(file)


def check_plan(plan, cli, dist, version):
    """One package with one binary is released, for every system, under the names where `cargo binstall` looks."""
    (release,) = plan["releases"]
    assert (release["app_name"], release["app_version"]) == (cli["package"]["name"], version), release
    artifacts = release["artifacts"]
    for installer in ("coord-cli-installer.sh", "coord-cli-installer.ps1", "coord.rb", "coord-cli-npm-package.tar.gz"):
        assert installer in artifacts, installer
    binaries = {name: plan["artifacts"][name]["assets"] for name in artifacts if plan["artifacts"][name]["kind"] == "executable-zip"}
    assert len(binaries) == len(TARGETS) and sorted(dist["targets"]) == TARGETS, binaries.keys()
    for assets in binaries.values():
        (binary,) = [asset["name"] for asset in assets if asset["kind"] == "executable"]
        assert binary == "coord", binary
    metadata = cli["package"]["metadata"]["binstall"]
    download = release["hosting"]["github"]
    base = f"{download['artifact_base_url']}{download['artifact_download_path']}"
    for target in TARGETS:
        form = metadata["overrides"].get(target, {}).get("pkg-fmt", metadata["pkg-fmt"])
        values = {"repo": "https://github.com/coord-dev/coord", "version": version, "target": target}
        values["archive-suffix"] = {"txz": ".tar.xz", "zip": ".zip"}[form]
        url = re.sub(r"\{ ([a-z-]+) \}", lambda found: values[found[1]], metadata["pkg-url"])
        assert url.removeprefix(f"{base}/") in binaries, f"{url} is not released"


def check_inputs(inputs):
    for one in inputs:
        assert set(one) <= INPUT and one["name"], one
        variables = one.get("variables", {})
        assert set(re.findall(r"\{(\w+)\}", one.get("value", ""))) == set(variables), one
        is_credential = re.search("authorization|token|secret|key", one["name"].lower())
        assert not is_credential or one.get("isSecret") is True, f"{one['name']} is a secret"
        check_inputs([{"name": name} | variable for name, variable in variables.items()])


def check_server(server, dist, version):
    """What the MCP registry requires, and that it names what is released."""
    assert set(server) == SERVER, server.keys()
    assert server["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    # The registry gives this namespace to the owner of the repository alone.
    assert server["name"] == "io.github.coord-dev/coord" and server["repository"]["url"].endswith("/coord-dev/coord")
    assert 1 <= len(server["description"]) <= 100 and 1 <= len(server["title"]) <= 100
    assert server["version"] == version, server["version"]
    (package,) = server["packages"]
    assert set(package) == PACKAGE, package.keys()
    assert (package["registryType"], package["identifier"], package["version"]) == ("npm", dist["npm-package"], version), package
    assert package["transport"] == {"type": "stdio"} and package["packageArguments"] == [{"type": "positional", "value": "mcp"}]
    check_inputs(package["environmentVariables"])
    (remote,) = server["remotes"]
    assert remote["type"] == "streamable-http" and remote["url"].startswith("https://") and remote["url"].endswith("/api/mcp"), remote
    assert set(re.findall(r"\{(\w+)\}", remote["url"])) == set(remote["variables"]), remote
    check_inputs(remote["headers"])


def check_image(workspace):
    """The compiler of the image is not older than the one that the workspace requires."""
    with open("Dockerfile") as file:
        found = re.search(r"^FROM rust:(\d+)\.(\d+)-", file.read(), re.MULTILINE)
    required = tuple(int(part) for part in workspace["workspace"]["package"]["rust-version"].split("."))
    assert (int(found[1]), int(found[2])) >= required, found[0]


def check_workflows(dist):
    """Every action is pinned to a commit, the same in all workflows; releases are attested, and their binaries auditable."""
    assert dist["cargo-auditable"] is True and dist["github-attestations"] is True
    pinned = {}
    for path in sorted(glob.glob(".github/workflows/*.yml")):
        with open(path) as file:
            uses = re.findall(r"^\s*(?:- )?uses:\s*['\"]?([^\s'\"]+)", file.read(), re.MULTILINE)
        for action in uses:
            if action.startswith("./"):
                continue
            name, _, commit = action.partition("@")
            assert re.fullmatch("[0-9a-f]{40}", commit), f"{path}: {action} is not pinned to a commit"
            assert pinned.setdefault(name, commit) == commit, f"{path}: {name} is pinned to another commit elsewhere"
    for name, commit in dist["github-action-commits"].items():
        assert pinned.get(name) == commit, f"{name}: dist-workspace.toml and the workflows name different commits"
    assert len(pinned) >= 5, f"only {sorted(pinned)} were found"


workspace, cli, dist = read("Cargo.toml"), read("cli/Cargo.toml"), read("dist-workspace.toml")["dist"]
version = workspace["workspace"]["package"]["version"]
check_plan(read(sys.argv[1]), cli, dist, version)
check_server(read("server.json"), dist, version)
check_image(workspace)
check_workflows(dist)
with open(".ci/packaging.txt") as file:
    assert f"cargo-dist=={dist['cargo-dist-version']} " in file.read(), "dist is another version than dist-workspace.toml names"
print(f"{version}: {len(TARGETS)} systems; cargo binstall, npm and server.json name what is released")
