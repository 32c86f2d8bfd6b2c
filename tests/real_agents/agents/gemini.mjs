import { join } from "node:path";
import { writeJson } from "../world.mjs";

const version = "0.61.0";

export default {
  name: "gemini",
  title: "Gemini CLI",
  version,
  packages: () => [`@google/gemini-cli@${version}`],
  program: (modules) => [process.execPath, join(modules, "@google", "gemini-cli", "bundle", "gemini.js")],
  // Its shell sets `core.hooksPath` to nothing.
  runsGitWithoutHooks: true,
  environment: (model) => ({
    GEMINI_API_KEY: "none",
    GOOGLE_GEMINI_BASE_URL: model.url,
    GEMINI_CLI_TRUST_WORKSPACE: "true",
  }),
  configure({ home }) {
    writeJson(join(home, ".gemini", "settings.json"), {
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: "gemini-api-key" } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    });
  },
  /** By the command line of `docs/reference/mcp.md`, in the place of the server that `coord init` has configured. */
  async useHttp(world, line) {
    world.editJson(".gemini/settings.json", (settings) => delete settings.mcpServers.coord);
    await world.runAgent(this, line.split(" ").slice(1));
  },
  run: (prompt) => ["-p", prompt, ...OPTIONS],
  resume: (prompt) => ["--resume", "latest", "-p", prompt, ...OPTIONS],
  calls: {
    read: (path) => ({ name: "read_file", input: { file_path: path } }),
    write: (path, content) => ({ name: "write_file", input: { file_path: path, content } }),
    shell: (command) => ({ name: "run_shell_command", input: { command, description: "Run it" } }),
    coord: (tool, input) => ({ name: `mcp_coord_${tool}`, input }),
  },
  /** The commands of `docs/guide/join.md`. */
  pluginCommands: (clone) => [["extensions", "install", "--consent", join(clone, "packaging", "plugins", "gemini")]],
  // It reports the installation, whatever its settings say.
  withPlugin: { reaches: ["play.googleapis.com:443"] },
};

const OPTIONS = ["--approval-mode", "yolo", "-m", "gemini-2.5-pro"];
