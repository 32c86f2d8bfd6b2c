import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeJson } from "../world.mjs";

const version = "1.0.102";

export default {
  name: "copilot",
  title: "Copilot CLI",
  version,
  packages: (platform) => [`@github/copilot@${version}`, `@github/copilot-${platform}@${version}`],
  // The package's shim in Node, below which hooks must still find the agent.
  program: (modules) => [process.execPath, join(modules, "@github", "copilot", "npm-loader.js")],
  environment: (model) => ({
    COPILOT_OFFLINE: "true",
    // Trusts the folder as well.
    COPILOT_ALLOW_ALL: "true",
    COPILOT_AUTO_UPDATE: "false",
    COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
    COPILOT_PROVIDER_API_KEY: "none",
    COPILOT_MODEL: "scripted",
  }),
  configure() {},
  /** By the JSON of `docs/reference/mcp.md`, in the place of the server that `coord init` has configured. */
  async useHttp(world, line) {
    rmSync(world.path(".github/mcp.json"));
    writeJson(join(world.home, ".copilot", "mcp-config.json"), JSON.parse(line));
  },
  /** Whether it can be resumed: it stores a conversation a moment after the model has answered. */
  hasStored: ({ home }, conversation) => existsSync(join(home, ".copilot", "session-state", conversation, "events.jsonl")),
  run: (prompt, conversation) => ["--session-id", conversation, "-p", prompt, ...OPTIONS],
  resume: (prompt, conversation) => ["--resume", conversation, "-p", prompt, ...OPTIONS],
  calls: {
    read: (path) => ({ name: "view", input: { path } }),
    write: (path, content) =>
      existsSync(path)
        ? { name: "edit", input: { path, old_str: readFileSync(path, "utf8").trimEnd(), new_str: content.trimEnd() } }
        : { name: "create", input: { path, file_text: content } },
    shell: (command) => ({ name: "bash", input: { command, description: "Run it", mode: "sync" } }),
    coord: (tool, input) => ({ name: `coord-${tool}`, input }),
  },
  /** The commands of `docs/guide/join.md`. */
  pluginCommands: (clone) => [
    ["plugin", "marketplace", "add", clone],
    ["plugin", "install", "coord@coord"],
  ],
};

const OPTIONS = ["--allow-all-tools", "--allow-all-paths"];
