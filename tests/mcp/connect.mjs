// Connections of the TypeScript client of the second generation.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { MCP_TOKEN, MCP_URL, stdio } from "./session.mjs";

/**
 * A client that is connected over `way`, by the revision that `mode` ("auto" or "legacy") comes to; `tools` chooses its tools, and `null`
 * leaves that to `coord mcp`.
 */
export async function connect(way, mode, tools) {
  const client = new Client({ name: "check", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${MCP_TOKEN}` } };
  const http = () => new StreamableHTTPClientTransport(new URL(tools ? `${MCP_URL}?tools=${tools}` : MCP_URL), { requestInit });
  const chosen = tools ? ["mcp", "--tools", tools] : ["mcp"];
  const args = tools === undefined ? stdio.args : chosen;
  await client.connect(way === "http" ? http() : new StdioClientTransport({ ...stdio, args }));
  return client;
}
