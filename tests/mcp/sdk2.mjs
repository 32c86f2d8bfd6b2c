// The session by the TypeScript client of the second generation: once by the newest revision, once by those before.

import assert from "node:assert/strict";
import { connect } from "./connect.mjs";
import { WAYS, play } from "./session.mjs";

for (const way of WAYS) {
  for (const [agent, mode, expected] of [
    ["typescript-2", "auto", /^2026-07-28$/],
    ["typescript-2-legacy", "legacy", /^2025-/],
  ]) {
    const client = await connect(way, mode);
    const version = client.getNegotiatedProtocolVersion();
    assert.match(version, expected);
    await play(
      {
        version,
        instructions: client.getInstructions(),
        tools: async () => (await client.listTools()).tools,
        call: (name, args) => client.callTool({ name, arguments: args }),
        templates: async () => (await client.listResourceTemplates()).resourceTemplates,
        read: (uri) => client.readResource({ uri }),
        prompt: (name, args) => client.getPrompt({ name, arguments: args }),
      },
      agent,
      way,
    );
    await client.close();
  }
}
