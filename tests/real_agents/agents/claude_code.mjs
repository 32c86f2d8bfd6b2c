import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeJson } from "../world.mjs";

const version = "2.1.332";

const calls = {
  read: (path) => ({ name: "Read", input: { file_path: path } }),
  write: (path, content) => ({ name: "Write", input: { file_path: path, content } }),
  shell: (command) => ({ name: "Bash", input: { command, description: "Run it" } }),
  coord: (tool, input) => ({ name: `mcp__coord__${tool}`, input }),
};

export default {
  name: "claude-code",
  title: "Claude Code",
  version,
  packages: (platform) => [`@anthropic-ai/claude-code@${version}`, `@anthropic-ai/claude-code-${platform}@${version}`],
  // The package's own program is put in place by a script, which is not run.
  program: (modules, platform) => [join(modules, "@anthropic-ai", `claude-code-${platform}`, "claude")],
  environment: (model) => ({
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }),
  /** What a user answers in dialogs. */
  configure({ home }) {
    writeJson(join(home, ".claude", "settings.json"), { enableAllProjectMcpServers: true });
  },
  /** By the command line of `docs/reference/mcp.md`, in the place of the server that `coord init` has configured. */
  async useHttp(world, line) {
    rmSync(world.path(".mcp.json"));
    await world.runAgent(this, line.split(" ").slice(1));
  },
  run: (prompt, conversation) => ["--session-id", conversation, "-p", prompt, ...OPTIONS],
  resume: (prompt, conversation) => ["--resume", conversation, "-p", prompt, ...OPTIONS],
  calls,
  /** The commands of `docs/guide/join.md`. */
  pluginCommands: (clone) => [
    ["plugin", "marketplace", "add", clone],
    ["plugin", "install", "coord@coord"],
  ],
  withPlugin: { calls: { ...calls, coord: (tool, input) => ({ name: `mcp__plugin_coord_coord__${tool}`, input }) } },
  /** The steps of a lead that has these prompts worked on at the same time. */
  spawn: (prompts) => {
    const task = { description: "Edit a file", subagent_type: "general-purpose", run_in_background: false };
    return [{ calls: prompts.map((prompt) => () => ({ name: "Agent", input: { ...task, prompt } })) }];
  },
};

const OPTIONS = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash,mcp__coord,mcp__plugin_coord_coord", "--model", "claude-opus-4-6"];
