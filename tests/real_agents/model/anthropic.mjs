// Anthropic's Messages, as Claude Code speaks them.

import { randomUUID } from "node:crypto";
import { json, namedEvents, textOf } from "./wire.mjs";

/** Claude Code asks for the model's name and counts tokens beside the messages. */
export const handles = (path) => /\/v1\/messages(\?|$)/.test(path);

/** What the model is shown, in the order in which it reads it. */
export function read({ messages, system, tools = [] }) {
  const items = [{ kind: "system", text: textOf(system) }];
  for (const { role, content } of messages) {
    for (const part of typeof content === "string" ? [{ type: "text", text: content }] : content) {
      if (part.type === "text") {
        items.push({ kind: role, text: part.text });
      } else if (part.type === "tool_result") {
        items.push({ kind: "result", text: textOf(part.content) });
      }
    }
  }
  return { items, tools: tools.map(({ name }) => name) };
}

/** The model's answer: calls of tools, or a text. */
export function answer({ model, stream }, { calls, text }) {
  const content = calls?.map(({ name, input }) => ({ type: "tool_use", id: `toolu_${randomUUID()}`, name, input })) ?? [{ type: "text", text }];
  const stop = { stop_reason: calls ? "tool_use" : "end_turn", stop_sequence: null };
  const usage = { input_tokens: 5, output_tokens: 5 };
  const message = { id: `msg_${randomUUID()}`, type: "message", role: "assistant", model, content, ...stop, usage };
  if (!stream) {
    return json(message);
  }
  const parts = content.flatMap((part, index) => {
    const isCall = part.type === "tool_use";
    const start = isCall ? { ...part, input: {} } : { ...part, text: "" };
    const delta = isCall ? { type: "input_json_delta", partial_json: JSON.stringify(part.input) } : { type: "text_delta", text: part.text };
    return [
      { type: "content_block_start", index, content_block: start },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ];
  });
  return namedEvents([
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    ...parts,
    { type: "message_delta", delta: stop, usage },
    { type: "message_stop" },
  ]);
}
