// `vercel dev` on a copy of the project, and requests to its functions.

import { createHmac } from "node:crypto";
import { cargoBuild, copyProject, environment, FUNCTIONS, takeFeaturesOfTests, vercelArguments } from "./project.mjs";
import { freePort, startServer } from "./processes.mjs";

/** Longest time that one answer may take; `vercel dev` asks Cargo before each. */
const ANSWER_MS = 120_000;

/** Starts `vercel dev` with these variables and no others of ours. */
export async function startFunctions(variables) {
  const project = copyProject("dev");
  takeFeaturesOfTests(project);
  // `vercel dev` would do it at the first request to each, and say nothing useful if it failed.
  await cargoBuild(project, FUNCTIONS.flatMap((name) => ["--bin", name]));
  const port = await freePort();
  const args = vercelArguments(project, "dev", "--yes", "--local", "--listen", `127.0.0.1:${port}`);
  const env = environment(variables);
  const server = await startServer("node", args, { cwd: project, env }, /Ready! Available at/);
  return { server, url: `http://127.0.0.1:${port}` };
}

/** Sends a request; the answer's body as JSON where it is, else as text. */
export async function send(url, { token, body, ...options } = {}) {
  const headers = { ...options.headers };
  if (token !== undefined) {
    headers.authorization = `Bearer ${token}`;
  }
  if (body !== undefined) {
    headers["content-type"] = "application/json";
    options = { method: "POST", body: JSON.stringify(body), ...options };
  }
  const response = await fetch(url, { ...options, headers, signal: AbortSignal.timeout(ANSWER_MS) });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Opens a stream of server-sent events; `next` reads a message other than a heartbeat. */
export async function openEvents(url, token) {
  const aborted = new AbortController();
  const headers = { accept: "text/event-stream", authorization: `Bearer ${token}` };
  const signal = AbortSignal.any([aborted.signal, AbortSignal.timeout(2 * ANSWER_MS)]);
  const response = await fetch(url, { headers, signal });
  if (!response.ok) {
    throw new Error(`${response.status} ${await response.text()}`);
  }
  const chunks = response.body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  let text = "";
  const next = async () => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end < 0) {
        const { value, done } = await chunks.next();
        if (done) {
          throw new Error(`the stream has ended after ${JSON.stringify(text)}`);
        }
        text += value;
        continue;
      }
      const data = text.slice(0, end).split("\n").find((line) => line.startsWith("data: "));
      text = text.slice(end + 2);
      const message = data && JSON.parse(data.slice("data: ".length));
      if (message && message.type !== "heartbeat") {
        return message;
      }
    }
  };
  return { next, close: () => aborted.abort() };
}

/** A JWT (HS256) that names `login`, good for an hour. */
export function tokenOf(login, secret) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { sub: login, aud: "coord", exp: Math.floor(Date.now() / 1000) + 3600 };
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}
