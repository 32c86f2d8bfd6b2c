// `vercel build`, as Vercel runs it on a deployment, without an account: what comes out is what would go online, except that it
// is built for debugging, with the features of the tests, so that nothing is compiled a second time.

import assert from "node:assert/strict";
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { before, test } from "node:test";
import { cargoBuild, copyProject, debugBuilds, environment, FUNCTIONS, run, takeFeaturesOfTests, vercelArguments } from "./project.mjs";
import { freePort, startServer } from "./processes.mjs";

const project = copyProject("build");
takeFeaturesOfTests(project);
const output = join(project, ".vercel", "output");

/** Every file below a folder, by its path from there. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

function readJson(...path) {
  return JSON.parse(readFileSync(join(...path), "utf8"));
}

before(async () => {
  // What `vercel link` and `vercel pull` would write for a project with no settings of its own.
  mkdirSync(join(project, ".vercel"));
  const link = { projectId: "prj_check", orgId: "team_check", settings: { framework: null } };
  writeFileSync(join(project, ".vercel", "project.json"), JSON.stringify(link));
  // VERCEL_BUILD_IMAGE is set on Vercel's own machines; without it the builder would compile for another one.
  const env = environment({ VERCEL_BUILD_IMAGE: "1", ...debugBuilds() });
  await run("node", vercelArguments(project, "build", "--prod", "--yes"), { cwd: project, env });
});

test("the functions are exactly those of the project", () => {
  const built = new Set(filesIn(join(output, "functions")).map((path) => path.replace(/\.func\/.*$/, "")));
  assert.deepEqual([...built].sort(), FUNCTIONS.map((name) => `api/${name}`));
});

test("every function is an executable for Vercel's machines, with its own time limit", () => {
  const limits = readJson(project, "vercel.json").functions;
  assert.deepEqual(Object.keys(limits).sort(), FUNCTIONS.map((name) => `api/${name}.rs`));
  for (const name of FUNCTIONS) {
    const folder = join(output, "functions", "api", `${name}.func`);
    const config = readJson(folder, ".vc-config.json");
    const { runtime, architecture, handler, maxDuration } = config;
    const limit = limits[`api/${name}.rs`].maxDuration;
    assert.deepEqual(
      { runtime, architecture, maxDuration },
      { runtime: "executable", architecture: "x86_64", maxDuration: limit },
      name,
    );
    const executable = executablePath(name, folder, handler, config.filePathMap);
    accessSync(executable, constants.X_OK);
    const elf = readFileSync(executable).subarray(0, 20);
    assert.equal(elf.toString("latin1", 0, 4), "\x7fELF", `${executable} is no ELF file`);
    assert.equal(elf.readUInt16LE(18), 62, `${executable} is not for x86-64`);
    // The SDK of MCP logs under its own name, which stands in every executable that has it.
    assert.equal(readFileSync(executable).includes("rmcp::"), name === "mcp", `${name} and the SDK of MCP`);
    console.log(`${name}: ${(statSync(executable).size / 2 ** 20).toFixed(1)} MiB`);
  }
});

/** The executable lies in the function's folder, or its place in the project is in `filePathMap`. */
function executablePath(name, folder, handler, filePathMap = {}) {
  assert.equal(handler, "executable", name);
  return filePathMap[handler] ? join(project, filePathMap[handler]) : join(folder, handler);
}

test("locks and activity are served by the function of the graph", () => {
  const { routes } = readJson(output, "config.json");
  for (const path of ["/api/locks", "/api/activity"]) {
    const rewrite = routes.find(({ src }) => src && new RegExp(src).test(path) && !new RegExp(src).test("/api/graph"));
    assert.match(rewrite?.dest ?? "", /^\/api\/graph(\?|$)/, JSON.stringify(routes));
  }
});

test("the metadata of MCP is answered by its function", () => {
  const { routes } = readJson(output, "config.json");
  const path = "/.well-known/oauth-protected-resource/api/mcp";
  const rewrite = routes.find(({ src, dest }) => src && dest && new RegExp(src).test(path));
  assert.match(rewrite?.dest ?? "", /^\/api\/mcp(\?|$)/, JSON.stringify(routes));
});

test("the sweep is called every minute", () => {
  assert.deepEqual(readJson(output, "config.json").crons, [{ path: "/api/cron_cleanup", schedule: "* * * * *" }]);
});

test("the page has a policy of its own, and the functions theirs", () => {
  const routes = readJson(output, "config.json").routes.filter(({ headers }) => headers?.["Content-Security-Policy"]);
  assert.equal(routes.length, 1, JSON.stringify(routes));
  const source = new RegExp(routes[0].src);
  for (const path of ["/", "/index.html", "/app/main.js"]) {
    assert.match(path, source);
  }
  for (const path of ["/api/graph", "/api/check_status"]) {
    assert.doesNotMatch(path, source);
  }
});

test("nothing but the files of public/ is served as static files", () => {
  const served = filesIn(join(output, "static"));
  assert.deepEqual(served, filesIn(join(project, "public")));
  assert.ok(served.includes("index.html"));
  for (const file of served) {
    assert.ok(readFileSync(join(output, "static", file)).equals(readFileSync(join(project, "public", file))), file);
  }
});

test("a function compiles neither the local server nor what only that needs", async () => {
  const binaries = FUNCTIONS.flatMap((name) => ["--bin", name]);
  const built = new Set((await cargoBuild(project, binaries)).map(({ target }) => target.name));
  assert.ok(built.has("coord_http") && built.has("check_status"), [...built].join(" "));
  const heavy = [...built].filter((name) => /^(coord(_(cli|embedded|git|agent|hooks|serve|intent_commands|team_commands))?$|mlua|lua|redb|gix$|gix[-_](odb|pack|object))/.test(name));
  assert.deepEqual(heavy, []);
});

test("a built function starts and answers", async () => {
  const VERCEL_DEV_PORT = String(await freePort());
  const folder = join(output, "functions", "api", "check_status.func");
  const { handler, filePathMap } = readJson(folder, ".vc-config.json");
  const executable = executablePath("check_status", folder, handler, filePathMap);
  const server = await startServer(executable, [], { env: { VERCEL_DEV_PORT } }, /listening: \d+/);
  try {
    const response = await fetch(`http://127.0.0.1:${VERCEL_DEV_PORT}/api/check_status`, { method: "POST" });
    assert.equal(response.status, 401);
    assert.equal((await response.json()).error, "UNAUTHORIZED");
  } finally {
    await server.stop();
  }
});

