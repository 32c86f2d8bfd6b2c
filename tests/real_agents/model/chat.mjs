// OpenAI's Chat Completions, as Copilot CLI and OpenCode speak them.

import { randomUUID } from "node:crypto";
import { events, json, textOf } from "./wire.mjs";

export const handles = (path) => /\/chat\/completions(\?|$)/.test(path);

const ROLES = { tool: "result", developer: "system" };

/** What the model is shown, in the order in which it reads it. */
export function read({ messages, tools = [] }) {
  const items = messages.map(({ role, content }) => ({ kind: ROLES[role] ?? role, text: textOf(content) }));
  return { items, tools: tools.map((tool) => (tool.function ?? tool.custom).name) };
}

/** The model's answer: calls of tools, or a text. */
export function answer({ model, stream }, { calls, text }) {
  const tool_calls = calls?.map(({ name, input }, index) => {
    const call = { name, arguments: JSON.stringify(input) };
    return { index, id: `call_${randomUUID()}`, type: "function", function: call };
  });
  const message = { role: "assistant", content: text ?? null, ...(tool_calls && { tool_calls }) };
  const finish_reason = tool_calls ? "tool_calls" : "stop";
  const completion = { id: randomUUID(), created: Math.floor(Date.now() / 1000), model };
  const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
  if (!stream) {
    return json({ ...completion, object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage });
  }
  const chunk = (more) => JSON.stringify({ ...completion, object: "chat.completion.chunk", ...more });
  return events([
    chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason }] }),
    chunk({ choices: [], usage }),
    "[DONE]",
  ]);
}
