import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeJson } from "../world.mjs";

const version = "1.18.33";

export default {
  name: "opencode",
  title: "OpenCode",
  version,
  packages: (platform) => [`opencode-ai@${version}`, `opencode-${platform}@${version}`],
  program: (modules, platform) => [join(modules, `opencode-${platform}`, "bin", "opencode")],
  // It installs a package of its own for plugins, and goes on without it.
  reaches: ["registry.npmjs.org:443"],
  /** Errors of its log, in which those of plugins are. */
  faults({ home }) {
    const folder = join(home, ".local", "share", "opencode", "log");
    const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"));
    return lines.filter((line) => line.includes("level=ERROR"));
  },
  environment: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
  configure({ home, model }) {
    writeJson(join(home, ".config", "opencode", "opencode.json"), {
      autoupdate: false,
      share: "disabled",
      snapshot: false,
      provider: {
        scripted: {
          npm: "@ai-sdk/openai-compatible",
          name: "Scripted",
          options: { baseURL: `${model.url}/v1`, apiKey: "none" },
          models: { scripted: { name: "Scripted" } },
        },
      },
    });
  },
  /** By the JSON of `docs/reference/mcp.md`, in the place of the server that `coord init` has configured. */
  async useHttp(world, line) {
    world.editJson("opencode.json", (settings) => Object.assign(settings.mcp, JSON.parse(line).mcp));
  },
  run: (prompt) => ["run", ...OPTIONS, prompt],
  resume: (prompt) => ["run", "--continue", ...OPTIONS, prompt],
  calls: {
    read: (path) => ({ name: "read", input: { filePath: path } }),
    write: (path, content) => ({ name: "write", input: { filePath: path, content } }),
    shell: (command) => ({ name: "bash", input: { command, description: "Run it" } }),
    coord: (tool, input) => ({ name: `coord_${tool}`, input }),
  },
  /** The steps of a lead that has these prompts worked on at the same time. */
  spawn: (prompts) => {
    const task = { description: "Edit a file", subagent_type: "general" };
    return [{ calls: prompts.map((prompt) => () => ({ name: "task", input: { ...task, prompt } })) }];
  },
};

const OPTIONS = ["--model", "scripted/scripted"];
