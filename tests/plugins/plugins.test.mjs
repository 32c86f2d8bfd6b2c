// The plugins in packaging/plugins, each validated or installed by its agent, in a home folder of its own, without a model and without
// an account. The agents' packages are installed into a cache below the build products; none of their scripts is run.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
const CACHE = join(resolve(ROOT, process.env.CARGO_TARGET_DIR || "target"), "agents");
const PLATFORM = `${process.platform}-${process.arch}`;
const INSTALL_MS = 600_000;
const RUN_MS = 120_000;
/** What npm says where the registry lacks a package or its version, and where no registry answers. */
const LACKS = /\bE404\b|\bETARGET\b/;
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|E50\d|ERR_SOCKET_TIMEOUT|FETCH_ERROR)\b/;

const AGENTS = [
  {
    name: "claude-code",
    version: "2.1.332",
    packages: (version) => [`@anthropic-ai/claude-code@${version}`, `@anthropic-ai/claude-code-${PLATFORM}@${version}`],
    program: (modules) => [join(modules, "@anthropic-ai", `claude-code-${PLATFORM}`, "claude")],
    check(run, plugin) {
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
    },
  },
  {
    name: "codex",
    version: "0.171.0",
    packages: (version) => [`@openai/codex@${version}`, `@openai/codex-${PLATFORM}@npm:@openai/codex@${version}-${PLATFORM}`],
    program: (modules) => [process.execPath, join(modules, "@openai", "codex", "bin", "codex.js")],
    check(run, plugin, home) {
      run("plugin", "marketplace", "add", ROOT);
      const { installedPath } = JSON.parse(run("plugin", "add", "coord@coord", "--json"));
      assert.ok(installedPath.startsWith(home), installedPath);
      for (const file of ["hooks/hooks.json", ".mcp.json", "skills/coord/SKILL.md"]) {
        assert.equal(readFileSync(join(installedPath, file), "utf8"), readFileSync(join(plugin, file), "utf8"), file);
      }
      assert.match(run("plugin", "list"), /coord@coord +installed, enabled/);
      assert.match(run("mcp", "list"), /^coord +coord +mcp/m);
    },
  },
  {
    name: "copilot",
    version: "1.0.102",
    packages: (version) => [`@github/copilot@${version}`, `@github/copilot-${PLATFORM}@${version}`],
    program: (modules) => [process.execPath, join(modules, "@github", "copilot", "npm-loader.js")],
    check(run, plugin) {
      run("plugin", "marketplace", "add", ROOT);
      assert.match(run("plugin", "install", "coord@coord"), /Installed 1 skill/);
      assert.match(run("plugin", "list"), /coord@coord .*\(enabled\)/);
      assert.match(run("mcp", "list"), /\bcoord\b/);
    },
  },
  {
    name: "gemini",
    version: "0.61.0",
    packages: (version) => [`@google/gemini-cli@${version}`],
    program: (modules) => [process.execPath, join(modules, "@google", "gemini-cli", "bundle", "gemini.js")],
    check(run, plugin) {
      assert.match(run("extensions", "validate", plugin), /successfully validated/);
      run("extensions", "install", "--consent", plugin);
      const listed = run("extensions", "list");
      assert.match(listed, /coord \(\d+\.\d+\.\d+\)/);
      assert.match(listed, /MCP servers:\s+coord/);
      assert.match(listed, /Agent skills:\s+coord/);
    },
  },
];

/** Installs an agent, unless the cache has it. Says why it is missing. */
function install({ name, version, packages }) {
  const folder = join(CACHE, `${name}-${version}`);
  if (existsSync(folder)) {
    return undefined;
  }
  const building = `${folder}.plugins`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { recursive: true });
  writeFileSync(join(building, "package.json"), '{ "private": true }\n');
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...packages(version)];
  const { status, stderr } = spawnSync("npm", args, { cwd: building, encoding: "utf8", timeout: INSTALL_MS });
  if (status === 0) {
    renameSync(building, folder);
    return undefined;
  }
  rmSync(building, { recursive: true, force: true });
  if (LACKS.test(stderr)) {
    return "the registry lacks this version";
  }
  if (UNREACHABLE.test(stderr) && process.env.COORD_TEST_REQUIRE !== "all") {
    return "no registry answers";
  }
  throw new Error(`npm: ${stderr}`);
}

for (const agent of AGENTS) {
  test(`${agent.name} ${agent.version} takes its plugin`, (context) => {
    const missing = install(agent);
    if (missing) {
      console.error(`\n*** SKIPPED: THE PLUGIN OF ${agent.name} IS NOT CHECKED: ${missing}. ***\n`);
      context.skip(missing);
      return;
    }
    const home = mkdtempSync(join(tmpdir(), "coord-plugins-"));
    const work = join(home, "work");
    mkdirSync(work);
    const [program, ...first] = agent.program(join(CACHE, `${agent.name}-${agent.version}`, "node_modules"));
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
      agent.check(run, join(ROOT, "packaging", "plugins", agent.name), home);
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
