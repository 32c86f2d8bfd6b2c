// Gemini's generateContent, as Gemini CLI speaks it.

import { events, json } from "./wire.mjs";

export const handles = (path) => /:(stream)?[gG]enerateContent(\?|$)/.test(path);

/** What the model is shown, in the order in which it reads it. */
export function read({ contents, systemInstruction, tools = [] }) {
  const items = [{ kind: "system", text: (systemInstruction?.parts ?? []).map(({ text }) => text).join("\n") }];
  for (const { role, parts } of contents) {
    for (const { text, functionResponse } of parts) {
      if (functionResponse) {
        items.push({ kind: "result", text: JSON.stringify(functionResponse.response) });
      } else if (text !== undefined) {
        items.push({ kind: role, text });
      }
    }
  }
  const declared = tools.flatMap((tool) => tool.functionDeclarations ?? []);
  return { items, tools: declared.map(({ name }) => name) };
}

/** The model's answer: calls of tools, or a text. */
export function answer(_body, { calls, text }, path) {
  const parts = calls?.map(({ name, input }) => ({ functionCall: { name, args: input } })) ?? [{ text }];
  const response = {
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 5, totalTokenCount: 10 },
    modelVersion: "scripted",
  };
  return path.includes(":stream") ? events([JSON.stringify(response)]) : json(response);
}
