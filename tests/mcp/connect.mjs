// Connections of the TypeScript client of the second generation.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { MCP_TOKEN, MCP_URL, stdio } from "./session.mjs";

/** A client that is connected over `way`, by the revision that `mode` ("auto" or "legacy") comes to. */
export async function connect(way, mode) {
  const client = new Client({ name: "check", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${MCP_TOKEN}` } };
  const http = () => new StreamableHTTPClientTransport(new URL(MCP_URL), { requestInit });
  await client.connect(way === "http" ? http() : new StdioClientTransport(stdio));
  return client;
}
