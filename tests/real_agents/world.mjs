// A throw-away world for one agent: a home folder, a repository with a remote, a server, and bob, who holds a file.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { startServer } from "../vercel/processes.mjs";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const TARGET = resolve(ROOT, process.env.CARGO_TARGET_DIR || "target");
const COORD = resolve(process.env.COORD_BIN || join(TARGET, "debug", "coord"));
/** The longest time of one run of an agent, and of one command. */
const RUN_MS = 120_000;

/** Why bob holds `src/held.ts`: an agent that is denied has to see it. */
export const BOBS_REASON = "Moving the login";
/** Files that import nothing, each for one case. */
const FILES = ["held", "free", "first", "second", "shared", "remote"];

export function writeJson(path, value) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Waits until a condition holds. */
export async function until(condition) {
  for (const end = Date.now() + RUN_MS; !condition(); ) {
    if (Date.now() > end) {
      throw new Error(`this does not come to hold: ${condition}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export class World {
  #server;
  #runs = new Set();

  /** `agentProgram` is the command line of the agent. The scripted model is also the proxy of everything here, and lets nothing out. */
  constructor(model, agentProgram) {
    this.model = model;
    this.agentProgram = agentProgram;
    this.folder = mkdtempSync(join(tmpdir(), "coord-agents-"));
    this.home = join(this.folder, "home");
    this.shop = join(this.folder, "shop");
    const bin = join(this.folder, "bin");
    const temporary = join(this.folder, "tmp");
    for (const folder of [this.home, this.shop, bin, temporary]) {
      mkdirSync(folder);
    }
    symlinkSync(COORD, join(bin, "coord"));
    // Nothing of the environment of whoever runs the tests, and so no credential.
    this.environment = {
      PATH: [bin, dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
      HOME: this.home,
      LANG: "C.UTF-8",
      TERM: "dumb",
      TMPDIR: temporary,
      HTTP_PROXY: model.url,
      HTTPS_PROXY: model.url,
      NO_PROXY: "127.0.0.1,localhost",
    };
    // Codex runs commands in a login shell.
    writeFileSync(join(this.home, ".profile"), `PATH=${bin}:$PATH\n`);
    const origin = join(this.folder, "origin.git");
    this.git("init", "--quiet", "--bare", "--initial-branch=main", origin);
    this.git("init", "--quiet", "--initial-branch=main");
    this.git("remote", "add", "origin", origin);
    // Not in the home folder: Gemini CLI hides a user's own configuration from git.
    this.git("config", "user.name", "Test");
    this.git("config", "user.email", "test@example.com");
    for (const name of FILES) {
      const path = this.path(`src/${name}.ts`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `export const ${name} = 1;\n`);
    }
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", "The shop");
    this.git("push", "--quiet", "--set-upstream", "origin", "main");
  }

  path(file) {
    return join(this.shop, file);
  }

  read(file) {
    return readFileSync(this.path(file), "utf8");
  }

  /** A command that writes a file in a way that no hook can tell beforehand. */
  unseenWrite(file) {
    const script = join(this.folder, "write.sh");
    writeFileSync(script, `echo x > ${this.path(file)}\n`);
    return `sh ${script}`;
  }

  /** Changes a JSON file of the repository. */
  editJson(file, change) {
    const value = JSON.parse(this.read(file));
    change(value);
    writeJson(this.path(file), value);
  }

  #run(program, args) {
    return execFileSync(program, args, { cwd: this.shop, env: this.environment, encoding: "utf8", timeout: RUN_MS });
  }

  git(...args) {
    return this.#run("git", args);
  }

  /** Runs `coord` as a person in a terminal does. */
  coord(...args) {
    return this.#run("coord", args);
  }

  /** Starts the server, and lets bob claim his file. */
  async serve() {
    const options = { cwd: this.shop, env: this.environment };
    // Where a run of the tests is killed, it ends by itself.
    const args = ["serve", "--repo", this.shop, "--listen", "127.0.0.1:0", "--exit-when-idle", "600"];
    this.#server = await startServer("coord", args, options, /http:\/\/127[\w.:]+/);
    this.url = this.#server.match[0];
    this.coord("claim", "src/held.ts", "--message", BOBS_REASON, "--agent", "bob");
  }

  /** Who holds a file: an agent's id, or nothing. */
  holderOf(file) {
    const { locks } = JSON.parse(this.coord("status", "--json"));
    return locks.find(({ file_path }) => file_path === file)?.agent_id;
  }

  /** Starts the agent in a process group of its own, which `kill` ends. `ended` gives its exit status, or the signal. */
  startAgent(agent, args) {
    const [program, ...before] = this.agentProgram;
    const env = { ...this.environment, ...agent.environment(this.model) };
    const child = spawn(program, [...before, ...args], { cwd: this.shop, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const kill = () => {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch (error) {
        if (error.code !== "ESRCH") {
          throw error;
        }
      }
    };
    const run = { printed: "", kill };
    for (const stream of ["stdout", "stderr"]) {
      child[stream].setEncoding("utf8").on("data", (text) => (run.printed += text));
    }
    const timer = setTimeout(kill, RUN_MS);
    this.#runs.add(run);
    run.ended = once(child, "close").then(([code, signal]) => {
      clearTimeout(timer);
      this.#runs.delete(run);
      run.status = signal ?? code;
      return run.status;
    });
    return run;
  }

  /** Runs the agent to its end. */
  async runAgent(agent, args) {
    const run = this.startAgent(agent, args);
    const status = await run.ended;
    if (status !== 0) {
      throw new Error(`${agent.title} ended with ${status}:\n${run.printed}`);
    }
    return run.printed;
  }

  async remove() {
    for (const run of this.#runs) {
      run.kill();
      await run.ended;
    }
    await this.#server?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
