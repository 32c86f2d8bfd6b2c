import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const version = "0.171.0";

const options = (model) => ["--dangerously-bypass-hook-trust", "--model", model];

/** Models of this kind write a program that calls the tools. */
const nested = (tool, input) => ({ name: "exec", input: `text(await tools.${tool}(${JSON.stringify(input)}));` });

const codex = {
  name: "codex",
  title: "Codex",
  version,
  packages: (platform) => [`@openai/codex@${version}`, `@openai/codex-${platform}@npm:@openai/codex@${version}-${platform}`],
  // The package's shim in Node, below which hooks must still find the agent.
  program: (modules) => [process.execPath, join(modules, "@openai", "codex", "bin", "codex.js")],
  environment: () => ({ SCRIPTED_KEY: "none" }),
  features: ["plugins = false"],
  // With plugins, it fetches the catalogs of OpenAI's own.
  withPlugin: { features: [], reaches: ["github.com:443", "api.github.com:443", "chatgpt.com:443"] },
  /** What a user answers in dialogs. */
  configure({ home, shop, model }) {
    const lines = [
      'model_provider = "scripted"',
      'sandbox_mode = "danger-full-access"',
      'approval_policy = "never"',
      "check_for_update_on_startup = false",
      "[analytics]",
      "enabled = false",
      "[features]",
      ...this.features,
      "[model_providers.scripted]",
      'name = "scripted"',
      `base_url = "${model.url}/v1"`,
      'wire_api = "responses"',
      'env_key = "SCRIPTED_KEY"',
      `[projects."${shop}"]`,
      'trust_level = "trusted"',
      "",
    ];
    mkdirSync(join(home, ".codex"), { recursive: true });
    writeFileSync(join(home, ".codex", "config.toml"), lines.join("\n"));
  },
  /** By the command line of `docs/reference/mcp.md`, in the place of the server that `coord init` has configured. */
  async useHttp(world, line) {
    rmSync(world.path(".codex/config.toml"));
    await world.runAgent(this, line.split(" ").slice(1));
  },
  run: (prompt) => ["exec", ...options("gpt-6-sol"), prompt],
  resume: (prompt) => ["exec", "resume", "--last", ...options("gpt-6-sol"), prompt],
  calls: {
    read: (path) => nested("exec_command", { cmd: `cat ${path}` }),
    write: (path, content) => nested("apply_patch", patchOf(path, content)),
    shell: (command) => nested("exec_command", { cmd: command }),
    coord: (tool, input) => nested(`mcp__coord__${tool}`, input),
  },
  /** The commands of `docs/guide/join.md`. */
  pluginCommands: (clone) => [
    ["plugin", "marketplace", "add", clone],
    ["plugin", "add", "coord@coord"],
  ],
  /** The steps of a lead that has these prompts worked on at the same time. */
  spawn: (prompts) => prompts.map((message, index) => {
    const input = { task_name: `task_${index}`, message, fork_turns: "none" };
    return { calls: [() => ({ name: "spawn_agent", namespace: "collaboration", input })] };
  }),
};

/** Older models call each tool by itself, and have no subagents. */
export const withPlainTools = {
  ...codex,
  variant: "with a model of plain tools",
  run: (prompt) => ["exec", ...options("gpt-5.5"), prompt],
  resume: (prompt) => ["exec", "resume", "--last", ...options("gpt-5.5"), prompt],
  calls: {
    read: (path) => ({ name: "exec_command", input: { cmd: `cat ${path}` } }),
    write: (path, content) => ({ name: "apply_patch", input: patchOf(path, content) }),
    shell: (command) => ({ name: "exec_command", input: { cmd: command } }),
    coord: (tool, input) => ({ name: tool, namespace: "mcp__coord", input }),
  },
  spawn: undefined,
};

export default codex;

/** A patch that gives a file this content. */
function patchOf(path, content) {
  const lines = (text, mark) => text.trimEnd().split("\n").map((line) => `${mark}${line}`);
  const change = existsSync(path)
    ? [`*** Update File: ${path}`, "@@", ...lines(readFileSync(path, "utf8"), "-"), ...lines(content, "+")]
    : [`*** Add File: ${path}`, ...lines(content, "+")];
  return ["*** Begin Patch", ...change, "*** End Patch", ""].join("\n");
}
