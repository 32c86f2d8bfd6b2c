// One agent's session by MCP, and what must come of it. The clients of both generations have the methods that it needs.

import assert from "node:assert/strict";

/** What the checks are about; `.ci/check-mcp` sets it. */
export const { MCP_URL, MCP_TOKEN, MCP_REPO_URL, MCP_HEAD, MCP_COORD, MCP_FOLDER } = process.env;

/** The ways to a server; over stdio it is `coord mcp`. Where there is none, `MCP_WAYS` is `http`. */
export const WAYS = (process.env.MCP_WAYS ?? "http,stdio").split(",");

/** The tools. */
const TOOLS = [
  "check_status", "message_read", "message_send", "post_status", "select_active_intent", "task_claim", "task_create", "task_list",
  "task_update", "team", "update_intent",
];

/** How a client starts `coord mcp` in the repository, with all tools, whatever that has a use for. */
export const stdio = { command: MCP_COORD, args: ["mcp", "--tools", "locks,tasks,messages"], cwd: MCP_FOLDER, stderr: "inherit" };

/** What a call has to say of where and who the agent is: over stdio nothing. */
export function place(way, agent) {
  if (way === "stdio") return {};
  return { repo_url: MCP_REPO_URL, branch: "main", agent_head: MCP_HEAD, ...(agent && { agent_id: agent }) };
}

/** Plays the session as the agent `agent`, and says which revision was spoken. */
export async function play(client, version, agent, way) {
  const call = (name, args) => client.callTool({ name, arguments: args });
  const about = { ...place(way, agent), file_paths: [`${agent}.ts`] };
  const message = "Moving sessions from cookies to tokens";
  assert.match(client.getInstructions(), /Orchestration commands are law/);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), TOOLS);
  assert.ok(tools.every(({ inputSchema, annotations }) => inputSchema && annotations));

  const free = await call("check_status", about);
  assert.equal(free.structuredContent.status, "OK");
  assert.match(free.content[0].text, /^PROCEED: /);
  const claimed = await call("post_status", { ...about, status: "WRITING", message });
  assert.equal(claimed.structuredContent.success, true);
  const refused = await call("post_status", { ...about, agent_id: "another", status: "WRITING", message });
  assert.ok(!refused.isError);
  assert.equal(refused.structuredContent.error, "LOCK_CONFLICT");
  assert.match(refused.content[0].text, /^WAIT: /);
  const malformed = await call("check_status", { ...about, file_paths: ["../etc/passwd"] });
  assert.equal(malformed.isError, true);
  assert.equal(malformed.structuredContent.field, "file_paths");

  assert.deepEqual((await client.listResourceTemplates()).resourceTemplates.map(({ name }) => name).sort(), ["activity", "graph", "intents", "ledger", "locks", "task", "team"]);
  const mine = way === "http" ? `repo_url=${encodeURIComponent(MCP_REPO_URL)}&holder=me&agent_id=${agent}` : "holder=me";
  const { contents } = await client.readResource({ uri: `coord://locks?${mine}` });
  assert.deepEqual(JSON.parse(contents[0].text).locks.map((lock) => lock.file_path), [`${agent}.ts`]);
  const { messages } = await client.getPrompt({ name: "coordinate", arguments: { task: "Add a pool" } });
  assert.match(messages[0].content.text, /The task: Add a pool$/);

  // The one that was refused waits no longer, either.
  for (const more of [{}, { agent_id: "another" }]) {
    const released = await call("post_status", { ...about, ...more, status: "OPEN", abandon: true, message });
    assert.equal(released.structuredContent.success, true);
  }
  console.log(`${agent}, ${way}: ${version}`);
}
