// What agents pay for: tokens of what each agent shows its model of tools and results; of `tools/list`, of the instructions and of typical results, by the tokenizer o200k_base, over HTTP and
// over stdio. `tools/list` has a budget; a list beyond it fails. The tools of the plugin opencode-teams may cost as much as the plugin's own.

import assert from "node:assert/strict";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { connect } from "./connect.mjs";
import { WAYS, place } from "./session.mjs";

const MAX_TOOL_TOKENS = 3500;
const MAX_OPENCODE_TOKENS = 2000;

/** How agents show a tool and a result to their models, as requests to a scripted model had them in November 2026. None shows the schemas of results. */
const parameters = (name, { description, inputSchema }) => ({ type: "function", function: { name, description, parameters: inputSchema } });
const FORMS = {
  "Claude Code": {
    tool: ({ name, description, inputSchema }) => ({ name: `mcp__coord__${name}`, description, input_schema: inputSchema }),
    result: (_, content) => JSON.stringify(content),
  },
  Codex: {
    tool: ({ name, description, inputSchema }) => ({ type: "function", name, description, strict: false, parameters: inputSchema }),
    result: (_, content) => JSON.stringify(content),
  },
  "Gemini CLI": {
    tool: ({ name, description, inputSchema }) => ({ name: `mcp_coord_${name}`, description, parametersJsonSchema: inputSchema }),
    result: (text) => `<untrusted_context>\n${text}\n</untrusted_context>`,
  },
  "Copilot CLI": {
    tool: (tool) => parameters(`coord-${tool.name}`, tool),
    result: (text, content) => `${text}\n\n${JSON.stringify(content)}`,
  },
  OpenCode: {
    tool: (tool) => parameters(`coord_${tool.name}`, tool),
    result: (text) => text,
  },
};

const count = (value) => encode(typeof value === "string" ? value : JSON.stringify(value)).length;

for (const way of WAYS) {
  console.log(`--- ${way}`);
  const client = await connect(way, "auto");
  const { tools } = await client.listTools();
  // No agent shows its model what is for itself.
  const all = count({ tools: tools.map(({ _meta, ...tool }) => tool) });
  console.log(`tools/list: ${all} tokens`);
  for (const { name, inputSchema, outputSchema, ...rest } of tools) {
    console.log(`  ${name}: arguments ${count(inputSchema)}, result ${outputSchema ? count(outputSchema) : 0}, the rest ${count(rest)}`);
  }
  console.log(`instructions: ${count(client.getInstructions())} tokens`);
  assert.ok(all < MAX_TOOL_TOKENS, `tools/list has ${all} tokens, and at most ${MAX_TOOL_TOKENS} are wanted`);

  const about = { ...place(way), file_paths: ["src/auth.ts"] };
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
    const [call, text, structured] = [args, result.content[0].text, result.structuredContent].map(count);
    console.log(`${what}: arguments ${call}, text ${text}, structured content ${structured} tokens`);
    for (const [agent, form] of Object.entries(FORMS)) {
      console.log(`  ${agent}: ${count(form.result(result.content[0].text, result.structuredContent))}`);
    }
  }
  // The one that was refused waits no longer.
  await client.callTool({ name: "post_status", arguments: { ...about, agent_id: "two", status: "OPEN", abandon: true, message } });
  await client.close();

  const needed = way === "stdio" ? await connect(way, "auto", null) : undefined;
  for (const [what, list] of [["all", tools], ["needed", (await needed?.listTools())?.tools]]) {
    if (!list) continue;
    const shown = Object.entries(FORMS).map(([agent, form]) => `${agent} ${count(list.map(form.tool))}`);
    console.log(`${list.length} tools (${what}): ${shown.join(", ")}`);
  }
  await needed?.close();

  const opencode = await connect(way, "auto", "opencode");
  const list = await opencode.listTools();
  const tokens = count({ tools: list.tools });
  console.log(`tools/list of ${list.tools.length} tools of opencode: ${tokens} tokens`);
  for (const tool of list.tools) console.log(`  ${tool.name}: ${count(tool)}`);
  assert.equal(list.tools.length, 14);
  assert.ok(tokens < MAX_OPENCODE_TOKENS, `tools/list has ${tokens} tokens, and at most ${MAX_OPENCODE_TOKENS} are wanted`);
  await opencode.close();
}
