// OpenAI's Responses, as Codex speaks them.

import { randomUUID } from "node:crypto";
import { namedEvents, textOf } from "./wire.mjs";

export const handles = (path) => /\/v1\/responses(\?|$)/.test(path);

/** The tools of a request by name: Codex puts some into namespaces, and some into the input. */
function toolsOf({ tools = [], input }) {
  const groups = [...tools, ...input.filter(({ type }) => type === "additional_tools").flatMap((item) => item.tools)];
  const flat = groups.flatMap((tool) => (tool.tools ? tool.tools.map((inner) => ({ ...inner, namespace: tool.name })) : [tool]));
  return new Map(flat.map((tool) => [tool.name ?? tool.type, tool]));
}

/** What the model is shown, in the order in which it reads it. */
export function read(body) {
  const items = [{ kind: "system", text: body.instructions ?? "" }];
  for (const item of body.input) {
    if (item.type?.endsWith("_call_output")) {
      items.push({ kind: "result", text: textOf(item.output) });
    } else {
      // The task of a subagent is a message of its lead, encrypted where OpenAI's servers can read it.
      const parts = [item.content ?? []].flat();
      const kind = item.type === "agent_message" ? "user" : item.role;
      items.push(...parts.map((part) => ({ kind, text: part.encrypted_content ?? textOf(part) })));
    }
  }
  return { items, tools: [...toolsOf(body).keys()] };
}

/** The model's answer: calls of tools, or a text. `input` of a call is a string where the tool takes free text. */
export function answer(body, { calls, text }) {
  const output = calls?.map(({ name, namespace, input }) => {
    const call = { id: randomUUID(), call_id: `call_${randomUUID()}`, name, status: "completed" };
    return typeof input === "string"
      ? { ...call, type: "custom_tool_call", input }
      : { ...call, type: "function_call", arguments: JSON.stringify(input), ...(namespace && { namespace }) };
  }) ?? [{ id: randomUUID(), type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] }];
  const response = { id: `resp_${randomUUID()}`, object: "response", created_at: Math.floor(Date.now() / 1000), model: body.model };
  const usage = {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 10,
  };
  return namedEvents([
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...output.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item },
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: { ...response, status: "completed", output, usage } },
  ]);
}
