// The session by the TypeScript SDK of the first generation.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { MCP_TOKEN, MCP_URL, WAYS, play, stdio } from "./session.mjs";

const http = (headers) => new StreamableHTTPClientTransport(new URL(MCP_URL), { requestInit: { headers } });

for (const way of WAYS) {
  const client = new Client({ name: "check", version: "1" });
  const connection = way === "http" ? http({ authorization: `Bearer ${MCP_TOKEN}` }) : new StdioClientTransport(stdio);
  // Only the transport gets the revision.
  let version;
  const setVersion = connection.setProtocolVersion?.bind(connection);
  connection.setProtocolVersion = (negotiated) => {
    version = negotiated;
    setVersion?.(negotiated);
  };
  await client.connect(connection);
  await play(client, version, "typescript-1", way);
  assert.equal(connection.sessionId, undefined);
  await client.close();
}

const stranger = new Client({ name: "check", version: "1" });
await assert.rejects(stranger.connect(http({ authorization: "Bearer a.b.c" })), /401|Unauthorized|UNAUTHORIZED/);
