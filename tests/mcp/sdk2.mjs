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
    await play(client, version, agent, way);
    await client.close();
  }
}
