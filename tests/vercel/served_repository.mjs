// A repository that a `coord serve` serves beside the functions: it tells them, by the store they share, of heads and graphs.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cargoBuild, environment, ROOT } from "./project.mjs";
import { freePort, startServer } from "./processes.mjs";

/** The repository as agents name it. */
export const REPO_URL = "https://github.com/acme/webapp";

/** A git repository with one commit, in which `src/auth.ts` imports `src/db.ts`. */
export class Repository {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "coord-vercel-"));
    this.git("init", "--quiet", "--initial-branch=main");
    this.git("remote", "add", "origin", `${REPO_URL}.git`);
    this.write("src/auth.ts", 'import { query } from "./db";\nexport const login = () => query();\n');
    this.write("src/db.ts", "export const query = () => 1;\n");
    this.write("src/mail.ts", "export const send = () => 2;\n");
    this.commit("Add the first files");
  }

  git(...args) {
    const author = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
    const env = environment({ GIT_CONFIG_NOSYSTEM: "1" });
    return execFileSync("git", [...author, ...args], { cwd: this.folder, env, encoding: "utf8" }).trim();
  }

  write(path, text) {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  /** Commits everything; returns the new head. */
  commit(message) {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", message);
    return this.head();
  }

  head() {
    return this.git("rev-parse", "HEAD");
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The debug build of `coord`, where COORD_BIN does not name one that is there already. */
async function buildCoord() {
  const built = await cargoBuild(ROOT, ["--bin", "coord"]);
  return built.find(({ target, executable }) => target.name === "coord" && executable).executable;
}

/** `coord serve` on `repository`, and the redis-server that it shares with functions: `store` is what they need to reach it. */
export async function serve(repository) {
  const executable = process.env.COORD_BIN || (await buildCoord());
  const port = await freePort();
  const redis = await startServer("redis-server", ["--port", `${port}`, "--save", ""], {}, /Ready to accept connections/);
  const store = { REDIS_URL: `redis://127.0.0.1:${port}` };
  const args = ["serve", "--repo", repository.folder, "--listen", "127.0.0.1:0", "--redis", store.REDIS_URL];
  const coord = await startServer(executable, args, { env: environment({}) }, /Coord listens on/);
  const stop = async () => {
    await coord.stop();
    await redis.stop();
  };
  return { stop, store };
}
