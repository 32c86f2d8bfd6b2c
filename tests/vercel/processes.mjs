// Servers that a test starts, and stops by their process ids.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

/** How long a server may take until it is ready, and until it has stopped. */
const READY_MS = 120_000;
const STOP_MS = 40_000;

/** A port that was free a moment ago. */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/**
 * Starts a server in a process group of its own and waits until it has printed something that matches `ready`.
 * `stop` ends the whole group; `printed` is what it has printed so far; `match` is how `ready` matched.
 */
export async function startServer(command, args, options, ready) {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const closed = new Promise((resolve) => child.once("close", resolve));
  const server = { printed: "", match: null };
  server.stop = async () => {
    const killer = setTimeout(() => signal(child.pid, "SIGKILL"), STOP_MS);
    signal(child.pid, "SIGTERM");
    await closed;
    clearTimeout(killer);
  };
  const isReady = new Promise((resolve, reject) => {
    const fail = (what) => reject(new Error(`${command} ${args.join(" ")} ${what}:\n${server.printed}`));
    const timer = setTimeout(() => fail(`was not ready within ${READY_MS / 1000} s`), READY_MS);
    const look = (text) => {
      server.printed += text;
      server.match ??= ready.exec(server.printed);
      if (server.match) {
        clearTimeout(timer);
        resolve();
      }
    };
    child.stdout.setEncoding("utf8").on("data", look);
    child.stderr.setEncoding("utf8").on("data", look);
    child.once("error", (error) => {
      clearTimeout(timer);
      fail(error.message);
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
  });
  try {
    await isReady;
  } catch (error) {
    await (child.pid === undefined ? undefined : server.stop());
    throw error;
  }
  return server;
}

/** Signals the group of a process that was started here; one that has ended needs no signal. */
function signal(pid, name) {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (error.code !== "ESRCH") {
      throw error;
    }
  }
}
