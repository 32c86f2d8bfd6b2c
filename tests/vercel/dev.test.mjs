// Two agents through `vercel dev`, over HTTP: the functions as Vercel starts them, the state in a redis-server.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openEvents, send, startFunctions, tokenOf } from "./functions.mjs";
import { environment, ROOT, run } from "./project.mjs";
import { REPO_URL, Repository, serve } from "./served_repository.mjs";

const JWT_SECRET = "a secret of the check that is long enough";
const CRON_SECRET = "another secret of the check, of 32 bytes";
const alice = tokenOf("alice", JWT_SECRET);
const bob = tokenOf("bob", JWT_SECRET);

/** Asks again until the answer is `right`: what `coord serve` finds out reaches the functions a moment later. */
async function eventually(ask, right) {
  const end = Date.now() + 120_000;
  for (;;) {
    const answer = await ask();
    if (right(answer)) {
      return answer;
    }
    assert.ok(Date.now() < end, `still ${answer.status} ${JSON.stringify(answer.body)}`);
    await sleep(500);
  }
}

describe("functions on a store that a coord serve keeps up to date", () => {
  let repository, served, functions, first, second;
  before(async () => {
    repository = new Repository();
    first = repository.head();
    served = await serve(repository);
    functions = await startFunctions({ ...served.store, COORD_JWT_SECRET: JWT_SECRET, CRON_SECRET });
  });
  after(async () => {
    await functions?.server.stop();
    await served?.stop();
    repository?.remove();
  });

  const question = (path, head) => ({ repo_url: REPO_URL, branch: "main", file_paths: [path], agent_head: head });
  const check = (token, path, head) =>
    send(`${functions.url}/api/check_status`, { token, body: question(path, head) });
  const post = (token, path, head, fields) =>
    send(`${functions.url}/api/post_status`, { token, body: { ...question(path, head), ...fields } });
  const claim = (token, path, head) =>
    post(token, path, head, { status: "WRITING", message: "Checking sessions against the new table" });
  const release = (token, path, head, fields) =>
    post(token, path, head, { status: "OPEN", message: "Sessions are checked against the new table", ...fields });
  const graph = () =>
    send(`${functions.url}/api/graph?repo_url=${encodeURIComponent(REPO_URL)}&branch=main`, { token: alice });

  test("the import graph is served", async () => {
    const { body, headers } = await eventually(graph, ({ status, body }) => status === 200 && body.state === "ready");
    assert.equal(body.version, first);
    assert.deepEqual(body.edges, [{ source: "src/auth.ts", target: "src/db.ts", type: "import" }]);
    assert.deepEqual(body.locks, {});
    assert.ok(headers.get("etag"));
  });

  test("a request without a valid token gets 401, even if a header names a user", async () => {
    const body = question("src/auth.ts", first);
    for (const path of ["check_status", "post_status"]) {
      const answer = await send(`${functions.url}/api/${path}`, { body, headers: { "x-coord-user": "alice" } });
      assert.equal(answer.status, 401, path);
      assert.equal(answer.body.error, "UNAUTHORIZED", path);
      assert.equal(answer.body.orchestration.action, "STOP", path);
    }
    const forged = await check(tokenOf("alice", "another secret"), "src/auth.ts", first);
    assert.equal(forged.status, 401);
    assert.equal((await send(`${functions.url}/api/graph`)).status, 401);
  });

  test("one agent claims a file, and the other gets SWITCH_TASK or WAIT", async () => {
    const free = await check(alice, "src/auth.ts", first);
    assert.equal(free.status, 200);
    assert.equal(free.body.status, "OK");
    assert.equal(free.body.orchestration.action, "PROCEED");
    assert.equal(free.body.repo_head, first);

    const claimed = await claim(alice, "src/auth.ts", first);
    assert.equal(claimed.status, 200, JSON.stringify(claimed.body));
    assert.equal(claimed.body.success, true);
    assert.equal(claimed.body.locks["src/auth.ts"].status, "WRITING");

    const taken = await check(bob, "src/auth.ts", first);
    assert.equal(taken.body.status, "CONFLICT");
    assert.equal(taken.body.orchestration.action, "SWITCH_TASK");
    assert.equal(taken.body.locks["src/auth.ts"].user, "alice");
    assert.equal(taken.body.locks["src/auth.ts"].lock_type, "DIRECT");

    const refused = await claim(bob, "src/auth.ts", first);
    assert.equal(refused.status, 409);
    assert.equal(refused.body.error, "LOCK_CONFLICT");
    assert.equal(refused.body.orchestration.action, "WAIT");
    assert.equal(refused.body.orchestration.metadata.lock_owner, "alice");

    assert.equal((await claim(bob, "src/mail.ts", first)).status, 200);
    const shown = await graph();
    assert.deepEqual(Object.keys(shown.body.locks).sort(), ["src/auth.ts", "src/mail.ts"]);
    // Answered by the function of the graph.
    const locks = (query) =>
      send(`${functions.url}/api/locks?repo_url=${encodeURIComponent(REPO_URL)}${query}`, { token: alice });
    const names = ({ body }) => body.locks.map((lock) => lock.file_path);
    assert.deepEqual(names(await locks("")), ["src/auth.ts", "src/mail.ts"]);
    assert.deepEqual(names(await locks("&branch=main&holder=me")), ["src/auth.ts"]);
  });

  test("a path that Coord does not have says what to call instead", async () => {
    const answer = await send(`${functions.url}/api/lock`, { body: question("src/auth.ts", first), token: alice });
    assert.equal(answer.status, 404, JSON.stringify(answer.body));
    assert.match(answer.body.message, /post_status/);
  });

  test("an event reaches the stream of another process", async () => {
    const stream = await openEvents(`${functions.url}/api/events?repo_url=${encodeURIComponent(REPO_URL)}&branch=main`, alice);
    try {
      const opened = await stream.next();
      assert.equal(opened.type, "stream_opened", JSON.stringify(opened));
      assert.equal((await claim(bob, "src/invoices.ts", first)).status, 200);
      const granted = await stream.next();
      assert.equal(granted.type, "lock_granted", JSON.stringify(granted));
      assert.deepEqual([granted.user, granted.files, granted.action], ["bob", ["src/invoices.ts"], "PROCEED"]);
    } finally {
      stream.close();
    }
    const abandoned = await post(bob, "src/invoices.ts", first, { status: "OPEN", message: "No invoices yet", abandon: true });
    assert.equal(abandoned.status, 200, JSON.stringify(abandoned.body));
  });

  test("a neighbor of a written file is refused as well", async () => {
    const neighbor = await claim(bob, "src/db.ts", first);
    assert.equal(neighbor.status, 409);
    assert.deepEqual(neighbor.body.orchestration.metadata.conflicts, ["src/auth.ts"]);
    assert.equal(neighbor.body.conflicting_locks["src/auth.ts"].lock_type, "NEIGHBOR");
  });

  test("a written file is released once it is pushed, and then the other agent gets it", async () => {
    const unpushed = await release(alice, "src/auth.ts", first, { new_repo_head: first });
    assert.equal(unpushed.status, 409);
    assert.equal(unpushed.body.orchestration.action, "PUSH");

    repository.write("src/auth.ts", 'import { query } from "./db";\nexport const login = () => query() + 1;\n');
    second = repository.commit("Check sessions against the new table");
    const released = await eventually(
      () => release(alice, "src/auth.ts", second, { new_repo_head: second }),
      ({ body }) => body.orchestration?.action !== "PUSH",
    );
    assert.equal(released.status, 200, JSON.stringify(released.body));
    assert.deepEqual(released.body.orphaned_dependencies, []);

    const behind = await claim(bob, "src/auth.ts", first);
    assert.equal(behind.status, 409);
    assert.equal(behind.body.orchestration.action, "PULL");
    assert.equal((await claim(bob, "src/auth.ts", second)).status, 200);
  });

  test("a team and its tasks are reached by their addresses", async () => {
    const ask = (path, fields) => send(`${functions.url}/api/${path}`, { token: alice, body: { repo_url: REPO_URL, agent_id: "one", ...fields } });
    const done = async (path, fields) => {
      const { status, body } = await ask(path, fields);
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
      return body;
    };
    await done("teams", { name: "alpha" });
    const joined = await send(`${functions.url}/api/teams/alpha/join`, { token: bob, body: { repo_url: REPO_URL, agent_id: "two" } });
    assert.equal(joined.status, 200, JSON.stringify(joined.body));
    await done("tasks", { tasks: [{ title: "Write it down" }, { title: "Read it" }] });
    assert.equal((await done("tasks/t1/claim", {})).task.owner, "one");
    assert.equal((await done("tasks/next", {})).task.id, "t2");
    const shown = await send(`${functions.url}/api/tasks/t1?team=alpha&repo_url=${encodeURIComponent(REPO_URL)}`, { token: bob });
    assert.deepEqual([shown.status, shown.body.task.id, shown.body.task.status], [200, "t1", "in_progress"], JSON.stringify(shown.body));
  });

  test("an intent is written, selected, met and completed, and the ledger has its completion", async () => {
    const ask = (path, fields, options) =>
      send(`${functions.url}/api/${path}`, { token: alice, body: { repo_url: REPO_URL, ...fields }, ...options });
    const intent = { id: "REQ-1", name: "Send the mails", owned_scope: ["src/mail.ts"], acceptance_criteria: ["Tests pass"] };
    const status = async (answer) => {
      const { status, body } = await answer;
      return [status, body.intent?.status, body.error];
    };
    assert.deepEqual(await status(ask("intents", intent)), [200, "PENDING", undefined]);
    assert.deepEqual(await status(ask("intents/REQ-1/select", {})), [200, "IN_PROGRESS", undefined]);
    assert.deepEqual(await status(ask("intents/REQ-1/complete", {})), [409, "IN_PROGRESS", "CRITERIA_UNMET"]);
    const met = [{ criterion: "Tests pass", evidence: "npm test: 12 passed" }];
    assert.deepEqual(await status(ask("intents/REQ-1", { met }, { method: "PATCH" })), [200, "IN_PROGRESS", undefined]);
    assert.deepEqual(await status(ask("intents/REQ-1/complete", {})), [200, "COMPLETED", undefined]);
    const read = (path) => send(`${functions.url}/api/${path}repo_url=${encodeURIComponent(REPO_URL)}`, { token: alice });
    assert.equal((await read("intents/REQ-1?")).body.intent.criteria[0].by, "alice");
    const { body: ledger } = await read("ledger?intent=REQ-1&");
    assert.ok(ledger.lines.some((line) => line.includes("COMPLETED")), JSON.stringify(ledger));
    assert.match((await read("ledger/checkpoint?")).body, /^[^\n]+\n\d+\n/);
    assert.deepEqual((await read("ledger/map?")).body.files, []);
    assert.equal((await ask("ledger/verify", { files: [{ file_path: "src/mail.ts", hash: "DELETED" }] })).status, 200);
    assert.equal((await ask("intents/REQ-1/forget", {})).status, 404);
  });

  test("the sweep runs for the cron's secret alone", async () => {
    const sweep = (token) => send(`${functions.url}/api/cron_cleanup`, { token });
    assert.equal((await sweep()).status, 401);
    assert.equal((await sweep("undefined")).status, 401);
    assert.equal((await sweep(alice)).status, 401);
    const swept = await sweep(CRON_SECRET);
    assert.equal(swept.status, 200);
    assert.equal(swept.body.is_complete, true);
  });

  test("the health check needs no token", async () => {
    const { status, body, headers } = await send(`${functions.url}/api/health`);
    assert.equal(status, 200);
    assert.equal(body.status, "ok");
    assert.equal(body.store.status, "ok");
    assert.equal(body.source.status, "none");
    assert.equal(headers.get("cache-control"), "no-store");
    assert.ok(headers.get("x-request-id"));
  });

  test("agents join by MCP, and a request without a token gets the address of the metadata", async () => {
    const url = `${functions.url}/api/mcp`;
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const headers = { accept: "application/json, text/event-stream" };
    const refused = await send(url, { body: list, headers });
    assert.equal(refused.status, 401);
    const metadata = `${functions.url}/.well-known/oauth-protected-resource/api/mcp`;
    assert.match(refused.headers.get("www-authenticate"), new RegExp(`resource_metadata="${metadata}"`));
    const described = await send(metadata);
    assert.deepEqual([described.status, described.body.resource], [200, url]);
    const elsewhere = await send(url, { token: alice, body: list, headers: { ...headers, origin: "https://evil.example" } });
    assert.equal(elsewhere.status, 403);
    // The official client, by the newest revision and by one before.
    const env = environment({ MCP_URL: url, MCP_WAYS: "http", MCP_TOKEN: alice, MCP_REPO_URL: REPO_URL, MCP_HEAD: second });
    const { stdout } = await run("node", [join(ROOT, "tests", "mcp", "sdk2.mjs")], { env });
    assert.match(stdout, /^typescript-2, http: 2026-07-28\ntypescript-2-legacy, http: 2025-/);
  });

  test("a repository that no server has reported is unknown, not free", async () => {
    const body = { ...question("src/auth.ts", first), repo_url: "https://github.com/acme/unknown" };
    const answer = await send(`${functions.url}/api/check_status`, { token: alice, body });
    assert.equal(answer.status, 503);
    assert.equal(answer.body.status, "OFFLINE");
  });

  test("the page is served, and the sources are not", async () => {
    const page = await send(`${functions.url}/`);
    assert.equal(page.status, 200);
    assert.match(page.body, /<title>/);
    for (const path of ["Cargo.toml", "vercel.json", "lib/src/lib.rs", ".git/config", "public/index.html"]) {
      assert.equal((await send(`${functions.url}/${path}`)).status, 404, path);
    }
  });
});

describe("functions with no store", () => {
  let functions;
  before(async () => {
    functions = await startFunctions({ COORD_JWT_SECRET: JWT_SECRET });
  });
  after(() => functions?.server.stop());

  test("they are offline, and name the variables that are missing", async () => {
    const body = { repo_url: REPO_URL, branch: "main", file_paths: ["a.ts"], agent_head: "1234567" };
    const { status, body: answer } = await send(`${functions.url}/api/check_status`, { token: alice, body });
    assert.equal(status, 503);
    assert.equal(answer.status, "OFFLINE");
    assert.equal(answer.orchestration.action, "STOP");
    for (const name of ["UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN", "KV_REST_API_URL", "REDIS_URL"]) {
      assert.match(answer.message, new RegExp(name));
    }
    assert.ok(answer.warnings.some((warning) => warning.startsWith("OFFLINE_MODE:")));
  });

  test("the sweep refuses everybody while its secret is unset", async () => {
    for (const token of [undefined, "", "undefined"]) {
      assert.equal((await send(`${functions.url}/api/cron_cleanup`, { token })).status, 401);
    }
  });
});
