// What agents pay for: tokens of `tools/list`, of the instructions and of typical results, by the tokenizer o200k_base.
// `tools/list` has a budget; a list beyond it fails.

import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { MCP_HEAD, MCP_REPO_URL, MCP_TOKEN, MCP_URL } from "./session.mjs";

const MOST_OF_TOOLS = 1500;

const client = new Client({ name: "check", version: "1" }, { versionNegotiation: { mode: "auto" } });
const requestInit = { headers: { authorization: `Bearer ${MCP_TOKEN}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(MCP_URL), { requestInit }));
const count = (value) => encode(typeof value === "string" ? value : JSON.stringify(value)).length;
const { tools } = await client.listTools();
const all = count({ tools });
console.log(`tools/list: ${all} tokens`);
for (const { name, inputSchema, outputSchema, ...rest } of tools) {
  console.log(`  ${name}: arguments ${count(inputSchema)}, result ${count(outputSchema)}, the rest ${count(rest)}`);
}
console.log(`instructions: ${count(client.getInstructions())} tokens`);

const about = { repo_url: MCP_REPO_URL, branch: "main", agent_head: MCP_HEAD, file_paths: ["src/auth.ts"] };
const message = "Moving sessions from cookies to tokens";
const claim = { ...about, status: "WRITING", message };
for (const [what, tool, args] of [
  ["a check, PROCEED", "check_status", { ...about, agent_id: "one" }],
  ["a claim, PROCEED", "post_status", { ...claim, agent_id: "one" }],
  ["a check, SWITCH_TASK", "check_status", { ...about, agent_id: "two" }],
  ["a claim, WAIT", "post_status", { ...claim, agent_id: "two" }],
  ["a release, PROCEED", "post_status", { ...about, agent_id: "one", status: "OPEN", abandon: true, message }],
]) {
  const result = await client.callTool({ name: tool, arguments: args });
  assert.equal(result.structuredContent.orchestration.action, what.split(", ")[1], JSON.stringify(result));
  console.log(`${what}: text ${count(result.content[0].text)}, structured content ${count(result.structuredContent)} tokens`);
}
await client.close();
assert.ok(all < MOST_OF_TOOLS, `tools/list has ${all} tokens, and at most ${MOST_OF_TOOLS} are wanted`);
