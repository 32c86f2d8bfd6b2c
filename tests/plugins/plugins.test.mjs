// The plugins in packaging/plugins, each validated or installed by its agent, in a home folder of its own, without a model and without
// an account. The agents and their versions are those of tests/real_agents; none of their packages' scripts is run.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import assert from "node:assert/strict";
import claudeCode from "../real_agents/agents/claude_code.mjs";
import codex from "../real_agents/agents/codex.mjs";
import copilot from "../real_agents/agents/copilot.mjs";
import gemini from "../real_agents/agents/gemini.mjs";
import { install, modulesOf, PLATFORM } from "../real_agents/install.mjs";
import { ROOT } from "../real_agents/world.mjs";

const RUN_MS = 120_000;

const CHECKS = [
  [claudeCode, (run, plugin) => {
    run("plugin", "validate", "--strict", plugin);
    run("plugin", "validate", "--profile", "directory", plugin);
    run("plugin", "validate", "--strict", ROOT);
    run("plugin", "marketplace", "add", ROOT);
    run("plugin", "install", "coord@coord");
    const details = run("plugin", "details", "coord");
    for (const event of ["SessionStart", "PreToolUse", "PostToolUse", "Stop", "SubagentStart", "SubagentStop", "SessionEnd"]) {
      assert.match(details, new RegExp(`Hooks .*\\b${event}\\b`));
    }
    assert.match(details, /MCP servers \(1\) {2}coord/);
    assert.match(details, /Skills \(1\) {2}coord/);
  }],
  [codex, (run, plugin, home) => {
    run("plugin", "marketplace", "add", ROOT);
    const { installedPath } = JSON.parse(run("plugin", "add", "coord@coord", "--json"));
    assert.ok(installedPath.startsWith(home), installedPath);
    for (const file of ["hooks/hooks.json", ".mcp.json", "skills/coord/SKILL.md"]) {
      assert.equal(readFileSync(join(installedPath, file), "utf8"), readFileSync(join(plugin, file), "utf8"), file);
    }
    assert.match(run("plugin", "list"), /coord@coord +installed, enabled/);
    assert.match(run("mcp", "list"), /^coord +coord +mcp/m);
  }],
  [copilot, (run) => {
    run("plugin", "marketplace", "add", ROOT);
    assert.match(run("plugin", "install", "coord@coord"), /Installed 1 skill/);
    assert.match(run("plugin", "list"), /coord@coord .*\(enabled\)/);
    assert.match(run("mcp", "list"), /\bcoord\b/);
  }],
  [gemini, (run, plugin) => {
    assert.match(run("extensions", "validate", plugin), /successfully validated/);
    run("extensions", "install", "--consent", plugin);
    const listed = run("extensions", "list");
    assert.match(listed, /coord \(\d+\.\d+\.\d+\)/);
    assert.match(listed, /MCP servers:\s+coord/);
    assert.match(listed, /Agent skills:\s+coord/);
  }],
];

for (const [agent, check] of CHECKS) {
  test(`${agent.name} ${agent.version} takes its plugin`, async (context) => {
    const missing = await install(agent);
    if (missing) {
      console.error(`\n*** SKIPPED: THE PLUGIN OF ${agent.name} IS NOT CHECKED: ${missing}. ***\n`);
      context.skip(missing);
      return;
    }
    const home = mkdtempSync(join(tmpdir(), "coord-plugins-"));
    const work = join(home, "work");
    mkdirSync(work);
    const [program, ...first] = agent.program(modulesOf(agent), PLATFORM);
    const env = {
      PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: home,
      LANG: "C.UTF-8",
      TERM: "dumb",
      NO_COLOR: "1",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    };
    const run = (...args) => {
      const ended = spawnSync(program, [...first, ...args], { cwd: work, env, encoding: "utf8", input: "", timeout: RUN_MS });
      const said = `${ended.stdout}${ended.stderr}`;
      assert.equal(ended.status, 0, `${agent.name} ${args.join(" ")}: ${said}${ended.error ?? ""}`);
      return args.includes("--json") ? ended.stdout : said;
    };
    try {
      check(run, join(ROOT, "packaging", "plugins", agent.name), home);
    } finally {
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    }
  });
}

// Fields of https://cursor.com/schemas/cursor-plugin/plugin.json, which takes no others, and what its documents say of the files.
const CURSOR_FIELDS = new Set([
  "name", "displayName", "description", "version", "author", "publisher", "homepage", "repository", "license", "logo", "keywords", "category",
  "tags", "commands", "agents", "skills", "rules", "hooks", "mcpServers",
]);

test("the plugin of Cursor has the fields and files that its documents name", () => {
  const plugin = join(ROOT, "packaging", "plugins", "cursor");
  const manifest = JSON.parse(readFileSync(join(plugin, ".cursor-plugin", "plugin.json"), "utf8"));
  assert.deepEqual(Object.keys(manifest).filter((field) => !CURSOR_FIELDS.has(field)), []);
  assert.match(manifest.name, /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
  for (const path of [manifest.hooks, manifest.mcpServers, join(manifest.skills, "coord", "SKILL.md")]) {
    assert.ok(existsSync(join(plugin, path)), path);
  }
  const hooks = JSON.parse(readFileSync(join(plugin, manifest.hooks), "utf8"));
  assert.equal(hooks.version, 1);
  const catalog = JSON.parse(readFileSync(join(ROOT, ".cursor-plugin", "marketplace.json"), "utf8"));
  assert.equal(resolve(ROOT, catalog.plugins[0].source), plugin);
});

test("git shares every file of the plugins", () => {
  const paths = ["packaging/plugins", ".claude-plugin", ".agents", ".github/plugin", ".cursor-plugin"];
  const others = execFileSync("git", ["ls-files", "--others", "--", ...paths], { cwd: ROOT, encoding: "utf8" });
  assert.equal(others, "");
});
