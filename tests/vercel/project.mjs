// A copy of the project for Vercel's command line to work in, which writes into the folder that it is started in:
// `.vercel/project.json` there may be a developer's own link to a deployment.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
/** The folder of the project. */
export const ROOT = resolve(HERE, "..", "..");
const TARGET = resolve(ROOT, process.env.CARGO_TARGET_DIR || "target");
const VERCEL = join(HERE, "node_modules", "vercel", "dist", "vc.js");

/** The functions of this project: one for each `api/NAME.rs`. */
export const FUNCTIONS = readdirSync(join(ROOT, "api")).map((file) => file.replace(/\.rs$/, "")).sort();

/**
 * Copies what git knows and what it would add, as it is now, into a folder beside the build products. The folder is the same
 * each time, and files and folders keep their times, so that Cargo builds again only what has changed.
 */
export function copyProject(name) {
  const copy = join(TARGET, "vercel", name);
  const remove = () => rmSync(copy, { recursive: true, force: true });
  remove();
  // To Cargo, the packages of the copy are those of the project: while it is there, a build of the project would find them fresh.
  process.once("exit", remove);
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  const folders = new Set();
  for (const file of new Set(listed.toString().split("\0"))) {
    if (file !== "" && existsSync(join(ROOT, file))) {
      cpSync(join(ROOT, file), join(copy, file), { preserveTimestamps: true });
      for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
        folders.add(folder);
      }
    }
  }
  // A build script that asks for a folder is run again where that is newer.
  for (const folder of folders) {
    const { atime, mtime } = statSync(join(ROOT, folder));
    utimesSync(join(copy, folder), atime, mtime);
  }
  return copy;
}

/**
 * Gives the crates of a copy the features that they have in the tests, so that Cargo compiles none of them again: one package of
 * the workspace decides for all.
 */
export function takeFeaturesOfTests(copy) {
  const manifest = join(copy, "tests", "support", "Cargo.toml");
  const text = readFileSync(manifest, "utf8");
  writeFileSync(manifest, text.replace("[features]\n", '[features]\ndefault = ["features-of-tests"]\n'));
}

/**
 * The environment of a `vercel build` that reuses what the tests have compiled: its Cargo ignores `--release`, and the folder of
 * release builds is a link to that of debug builds. A release profile with the settings of the debug profile is not enough, because
 * Cargo compiles again for a folder of another name.
 */
export function debugBuilds() {
  const [home, target] = ["home", "target"].map((name) => join(TARGET, "vercel", name));
  for (const folder of [home, target]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  for (const profile of ["debug", "release"]) {
    symlinkSync(join(TARGET, "debug"), join(target, profile));
  }
  // Vercel's builder looks for Cargo here first.
  const programs = join(home, ".cargo", "bin");
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(programs, "cargo"), DEBUG_CARGO, { mode: 0o755 });
  const { HOME, PATH, CARGO_HOME = join(HOME, ".cargo"), RUSTUP_HOME = join(HOME, ".rustup") } = process.env;
  return { HOME: home, PATH: `${PATH}:${join(CARGO_HOME, "bin")}`, CARGO_HOME, RUSTUP_HOME, CARGO_TARGET_DIR: target };
}

/** Runs Cargo without `--release`. The builder puts the folder of this script first on the path. */
const DEBUG_CARGO = `#!/bin/sh
for argument; do
    shift
    [ "$argument" = --release ] || set -- "$@" "$argument"
done
PATH=\${PATH#*:}
exec cargo "$@"
`;

/**
 * The environment of a command: what Cargo and Node need, and nothing else of ours, so that no setting of whoever runs the checks
 * gets into a function. What is built goes to the target folder of this project.
 */
export function environment(extra = {}) {
  const kept = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (/^(PATH|HOME|LANG|TMPDIR|CI|CARGO_.*|RUSTUP_.*|RUSTFLAGS|SSL_CERT_.*)$/.test(name)) {
      kept[name] = value;
    }
  }
  return { ...kept, CARGO_TARGET_DIR: TARGET, VERCEL_TELEMETRY_DISABLED: "1", NO_UPDATE_NOTIFIER: "1", ...extra };
}

/** Arguments that keep Vercel's command line from the login and the settings of whoever runs the checks. */
export function vercelArguments(copy, ...rest) {
  // One for each copy: two commands may run at the same time.
  const config = `${copy}-config`;
  mkdirSync(config, { recursive: true });
  return [VERCEL, ...rest, "--global-config", config];
}

/** Runs a command to its end; an error has what it printed. */
export async function run(command, args, options) {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) {
    child[stream].setEncoding("utf8").on("data", (text) => (printed[stream] += text));
  }
  const [code, signal] = await once(child, "close");
  if (code !== 0) {
    const how = signal ?? `exit code ${code}`;
    throw new Error(`${command} ${args.join(" ")} failed (${how}):\n${printed.stdout}${printed.stderr}`);
  }
  return printed;
}

/** Builds binaries of a project with Cargo, and returns its messages about each package's products. */
export async function cargoBuild(cwd, args) {
  const command = ["build", "--message-format", "json-render-diagnostics", ...args];
  const { stdout } = await run("cargo", command, { cwd, env: environment() });
  const messages = stdout.split("\n").filter((line) => line.startsWith("{"));
  return messages.map((line) => JSON.parse(line)).filter(({ reason }) => reason === "compiler-artifact");
}
