// Installs the agents' packages into a cache below the build products: `node install.mjs`. No script of a package is run.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { AGENTS } from "./agents/all.mjs";
import { TARGET } from "./world.mjs";

const CACHE = join(TARGET, "agents");
const INSTALL_MS = 600_000;
/** What npm says where the registry lacks a package or its version. Nothing that is wrong here looks like it. */
const LACKS = /\bE404\b|\bETARGET\b/;
/** What npm says where no registry answers. */
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|E50\d|ERR_SOCKET_TIMEOUT|FETCH_ERROR)\b/;

/** As the packages of this system are called. */
export const PLATFORM = `${process.platform}-${process.arch}`;

const folderOf = ({ name, version }) => join(CACHE, `${name}-${version}`);
export const modulesOf = (agent) => join(folderOf(agent), "node_modules");

const noteOf = (agent) => `${folderOf(agent)}.missing`;

/** Why the tests cannot run an agent, as the last `install` found out. */
export function whyMissing(agent) {
  if (existsSync(folderOf(agent))) {
    return undefined;
  }
  if (existsSync(noteOf(agent))) {
    return readFileSync(noteOf(agent), "utf8");
  }
  throw new Error(`${agent.title} ${agent.version} is not installed: node tests/real_agents/install.mjs`);
}

/**
 * Installs an agent, unless the cache has it. Returns why it is missing: the registry lacks this version, or no registry answers, which
 * is a failure where nothing may be missing (COORD_TEST_REQUIRE=all). Everything else that npm fails with is an error.
 */
export async function install(agent) {
  const folder = folderOf(agent);
  if (existsSync(folder)) {
    return undefined;
  }
  const building = `${folder}.new`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { recursive: true });
  writeFileSync(join(building, "package.json"), '{ "private": true }\n');
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...agent.packages(PLATFORM)];
  try {
    await promisify(execFile)("npm", args, { cwd: building, timeout: INSTALL_MS });
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    if (LACKS.test(error.stderr)) {
      return "the registry lacks this version";
    }
    if (UNREACHABLE.test(error.stderr) && process.env.COORD_TEST_REQUIRE !== "all") {
      return "no registry answers";
    }
    throw error;
  }
  renameSync(building, folder);
  return undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const agent of AGENTS) {
    const missing = await install(agent);
    rmSync(noteOf(agent), { force: true });
    if (missing) {
      writeFileSync(noteOf(agent), missing);
    }
    console.log(`${agent.title} ${agent.version}: ${missing ? `SKIPPED, ${missing}` : "installed"}`);
  }
}
