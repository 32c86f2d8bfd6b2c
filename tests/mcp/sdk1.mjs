// The session by the TypeScript SDK of the first generation.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { MCP_TOKEN, MCP_URL, play } from "./session.mjs";

const transport = (headers) => new StreamableHTTPClientTransport(new URL(MCP_URL), { requestInit: { headers } });

const client = new Client({ name: "check", version: "1" });
const connection = transport({ authorization: `Bearer ${MCP_TOKEN}` });
await client.connect(connection);
await play(
  {
    version: connection.protocolVersion,
    instructions: client.getInstructions(),
    tools: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
  },
  "typescript-1",
);
assert.equal(connection.sessionId, undefined);
await client.close();

const stranger = new Client({ name: "check", version: "1" });
await assert.rejects(stranger.connect(transport({ authorization: "Bearer a.b.c" })), /401|Unauthorized|UNAUTHORIZED/);
