// Coord's plugin for OpenCode, written by `coord init`. It asks `coord hook opencode` before a tool writes a file, and throws if
// the tool is denied. COORD_PROGRAM names the program where it is not on the path.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

const LIMIT_MS = 20_000;
const MAX_OUTPUT = 1 << 20;
const SESSION_EVENTS = ["session.created", "session.compacted", "session.idle", "session.deleted"];

// Without `coord`, tools still run; after `coord init --strict`, those that may change something are denied.
const IS_REQUIRED = false;
const REQUIRED = "Coord is not installed on this machine, and this repository requires it for edits: put coord on the PATH";
const NOT_INSTALLED = "Coord is not installed on this machine: files are edited without locks";

// Tools that only read: no failure of the hook stops them.
const READING = new Set([
  "codesearch", "glob", "grep", "invalid", "list", "list_mcp_resource_templates", "list_mcp_resources", "lsp", "question", "read",
  "read_mcp_resource", "skill", "task", "todoread", "todowrite", "webfetch", "websearch",
]);

// The exit status, standard output and standard error of `coord hook opencode EVENT`, and whether it could not be run to its end.
const run = (event, call, folder) =>
  new Promise((resolve) => {
    const program = process.env.COORD_PROGRAM || "coord";
    const child = spawn(program, ["hook", "opencode", event], { cwd: folder, timeout: LIMIT_MS, windowsHide: true });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (part) => (stdout.length < MAX_OUTPUT ? (stdout += part) : undefined));
    child.stderr.on("data", (part) => (stderr.length < MAX_OUTPUT ? (stderr += part) : undefined));
    child.on("error", (error) => {
      // A folder that is gone is the same error.
      const isMissing = error.code === "ENOENT" && existsSync(folder);
      resolve({ status: 2, isBroken: true, isMissing, stdout: "", stderr: `${program} cannot be run: ${error.message}` });
    });
    child.on("close", (status) => {
      resolve({ status: status ?? 2, isBroken: status === null, stdout, stderr: stderr || "coord hook does not answer" });
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(call));
  });

export const CoordPlugin = async ({ client, directory }) => {
  // A task that an agent gives to another is a session below its own: a writer in the same conversation.
  const parents = new Map();
  const rootOf = async (session) => {
    let root = session;
    for (let depth = 0; depth < 8; depth++) {
      if (!parents.has(root)) {
        const found = await client.session.get({ path: { id: root } }).catch(() => undefined);
        parents.set(root, found?.data?.parentID ?? null);
      }
      const parent = parents.get(root);
      if (!parent) return root;
      root = parent;
    }
    return root;
  };
  let hasWarned = false;
  const warn = () => {
    if (hasWarned) return;
    hasWarned = true;
    const message = NOT_INSTALLED;
    client.app?.log?.({ body: { service: "coord", level: "warn", message } })?.catch?.(() => {});
    client.tui?.showToast?.({ body: { message, variant: "warning" } })?.catch?.(() => {});
  };
  const hook = async (event, session, more = {}) => {
    const root = await rootOf(session);
    const call = { sessionID: root, ...(root === session ? {} : { agent_id: session }), cwd: directory, ...more };
    const { status, isBroken, isMissing, stdout, stderr } = await run(event, call, directory);
    if (isBroken && READING.has(more.tool)) return {};
    if (isMissing && IS_REQUIRED) return { deny: REQUIRED };
    if (isMissing) {
      warn();
      return {};
    }
    // 2 denies; after any other failure the agent goes on.
    if (status === 2) return { deny: stderr.trim() };
    try {
      return status === 0 ? JSON.parse(stdout) : {};
    } catch {
      return { deny: "coord hook gives an answer that is not JSON" };
    }
  };
  const arguments_ = new Map();

  return {
    "tool.execute.before": async (input, output) => {
      const answer = await hook("tool.execute.before", input.sessionID, { tool: input.tool, args: output.args });
      if (answer.deny) throw new Error(answer.deny);
      Object.assign(output.args, answer.args);
      arguments_.set(input.callID, output.args);
    },
    "tool.execute.after": async (input, output) => {
      const args = arguments_.get(input.callID) ?? input.args;
      arguments_.delete(input.callID);
      if (!args) return;
      const { context } = await hook("tool.execute.after", input.sessionID, { tool: input.tool, args });
      // The model reads it behind the result of the tool.
      if (context && typeof output?.output === "string") output.output += `\n\n${context}`;
    },
    // Commands act for the session whose shell runs them.
    "shell.env": async (input, output) => {
      if (!input.sessionID) return;
      const { args } = await hook("shell.env", input.sessionID, input.cwd ? { cwd: input.cwd } : {});
      Object.assign(output.env, args);
    },
    "chat.message": async (input, output) => {
      const texts = output.parts.filter((part) => part.type === "text");
      const prompt = texts.map((part) => part.text).join("\n").slice(0, 4000);
      const { context } = await hook("chat.message", input.sessionID, { prompt });
      const last = output.parts.at(-1);
      if (context && last) {
        const { sessionID, messageID } = last;
        output.parts.push({ id: `${last.id}0`, sessionID, messageID, type: "text", text: context, synthetic: true });
      }
    },
    event: async ({ event }) => {
      // Other events come with each word of the model, and have ids of messages in the place of those of sessions.
      if (!SESSION_EVENTS.includes(event.type)) return;
      const { info, sessionID } = event.properties ?? {};
      const session = info?.id ?? sessionID;
      if (event.type === "session.created" && session) parents.set(session, info?.parentID ?? null);
      // The end of a task is not the end of its parent session: only the locks of the task are released.
      const isOwn = session && (await rootOf(session)) === session;
      if (session && (isOwn || event.type === "session.idle")) {
        const { goOn } = await hook(event.type, session);
        // OpenCode waits for its plugins, and the session for this event.
        if (goOn) {
          const body = { parts: [{ type: "text", text: goOn, synthetic: true }] };
          client.session.prompt({ path: { id: session }, body }).catch(() => {});
        }
      }
      if (event.type === "session.deleted") parents.delete(session);
    },
  };
};
