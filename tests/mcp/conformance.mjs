// The official conformance suite, in the scenarios that a server can pass without the tools, resources and prompts of the suite's own.
// Of `server-stateless`, four checks need such tools: they fail as not testable, and no other way.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SCENARIOS = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "dns-rebinding-protection",
  "caching",
  "http-header-validation",
  "sep-2164-resource-not-found",
  "server-stateless",
];
const NEED_TOOLS_OF_THE_SUITE = [
  "sep-2575-http-server-no-independent-requests-on-stream",
  "sep-2575-missing-capability-http-400",
  "sep-2575-server-no-log-without-loglevel",
  "sep-2575-server-rejects-undeclared-capability",
];

const suite = new URL("node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url).pathname;
const work = mkdtempSync(join(tmpdir(), "coord-conformance-"));
const notTestable = [];
try {
  for (const scenario of SCENARIOS) {
    const output = join(work, scenario);
    const args = [suite, "server", "--url", process.env.MCP_URL, "--scenario", scenario, "--output-dir", output];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 120_000 });
    const folders = readdirSync(output);
    assert.equal(folders.length, 1, stdout + stderr);
    const checks = JSON.parse(readFileSync(join(output, folders[0], "checks.json"), "utf8"));
    const count = (status) => checks.filter((check) => check.status === status).length;
    console.log(`${scenario}: ${count("SUCCESS")} passed, ${count("FAILURE")} not testable, ${count("SKIPPED")} skipped`);
    assert.ok(count("SUCCESS") > 0, stdout + stderr);
    for (const { id, status, errorMessage } of checks.filter(({ status }) => !["SUCCESS", "INFO", "SKIPPED"].includes(status))) {
      const isExpected = status === "FAILURE" && errorMessage.startsWith("Not testable:") && NEED_TOOLS_OF_THE_SUITE.includes(id);
      assert.ok(isExpected, `${scenario}, ${id}: ${status} ${errorMessage}`);
      notTestable.push(id);
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
assert.deepEqual(notTestable.sort(), NEED_TOOLS_OF_THE_SUITE);
