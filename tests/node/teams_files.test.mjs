// Files of opencode-teams: what Coord takes and writes against zod 3.24, with the schemas of its data model.
//
//   cargo build -p coord-teams --example teams_files
//   npm ci && npm test
//
// TEAMS_FILES_BIN names the program (default: the example in the target folder).

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { z } from "zod";

import { Config, Message, Task } from "./teams_schemas.mjs";

const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../target", import.meta.url));
const program = process.env.TEAMS_FILES_BIN ?? join(target, "debug", "examples", "teams_files");

const NOW = "2026-11-22T11:56:29.271Z";
const member = { agentId: "lead", agentName: "Lead", agentType: "leader", joinedAt: NOW };
const files = [
  {
    path: "tasks/alpha/t1.json",
    schema: Task,
    // What Coord does not read may be lost by a file that is written anew.
    value: {
      id: "t1",
      title: "Ünï \u2028 \"quoted\" \\ \u0007 \u007f 🦀",
      description: "",
      priority: "low",
      status: "in_progress",
      createdAt: NOW,
      updatedAt: "2024-02-29T00:00:00Z",
      owner: "w1",
      claimedAt: "2026-11-22T11:56:29.2Z",
      completedAt: NOW,
      dependencies: ["t2", "t3"],
      blocks: [],
      warning: "w",
    },
  },
  {
    path: "teams/alpha/inboxes/lead.json",
    schema: z.array(Message),
    value: [
      { from: "w1", to: "lead", message: "", type: "idle", timestamp: NOW, read: true, summary: "s" },
      { from: "w1", to: "broadcast", message: "m", type: "plain", timestamp: NOW, read: false, recipients: ["lead", "w1"] },
    ],
  },
  {
    path: "teams/alpha/config.json",
    schema: Config,
    value: {
      name: "alpha",
      created: NOW,
      leader: "lead",
      members: [member, { ...member, agentId: "w1" }],
      shutdownApprovals: ["w1"],
      topology: "flat",
      description: "d",
      templateSource: "t",
      roles: [{ name: "r", allowedTools: ["a"], deniedTools: [], description: "d" }],
      workflowConfig: { enabled: true, taskThreshold: 5, workerRatio: 2.5, cooldownSeconds: 1, lastSuggestionAt: NOW },
      dispatchRules: [],
      dispatchLog: [],
    },
  },
];

// What takes the place of each value.
const OTHERS = [
  null, true, 0, 1.5, "", "x", "pending", "high", "plain", NOW, [], ["x"], [1], [null], {}, [{}], { name: "r" },
  "2026-11-22T11:56:29Z", "2026-11-22T11:56:29.123456789Z", "2026-11-22T11:56Z", "2026-11-22 11:56:29Z", "2026-11-22T11:56:29+00:00",
  "2026-11-22T11:56:29", "2026-11-22T11:56:29.Z", "2026-11-22T11:56:29z", "2026-11-22T24:00:00Z", "2026-11-22T11:60:00Z",
  "2026-11-22T11:56:60Z", "2026-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "0000-02-29T00:00:00Z",
  "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-10T00:00:00Z", "2026-01-00T00:00:00Z", "2026-11-22T11:56:29Z\n",
  "12026-11-22T11:56:29Z", "-001-11-22T11:56:29Z",
];

/** Every file that differs from this one in one place: a value taken out, or another one in its stead. */
function* variants(value, path = []) {
  if (value !== null && typeof value === "object") {
    for (const key of Object.keys(value)) {
      for (const [inner, at] of variants(value[key], [...path, key])) {
        const copy = Array.isArray(value) ? [...value] : { ...value };
        if (inner === undefined) {
          if (Array.isArray(copy)) copy.splice(Number(key), 1);
          else delete copy[key];
        } else copy[key] = inner;
        yield [copy, at];
      }
    }
  }
  if (path.length === 0) {
    yield [value, path];
    yield [{ ...value, unknown: { deep: [1, null] } }, ["unknown"]];
  } else yield [undefined, path];
  for (const other of OTHERS) yield [other, path];
}

/** A place as Coord names it: `members[1].agentId`. */
const named = (path) =>
  path.reduce((all, key) => (typeof key === "number" ? `${all}[${key}]` : all ? `${all}.${key}` : key), "");

const mine = (path, value) =>
  // Rules of Coord's own: a file is named for what is in it.
  (path.startsWith("tasks/") && value.id !== "t1") || (path.endsWith("config.json") && value.name !== "alpha");

test("Coord takes what zod takes, refuses what zod refuses at the same place in its words, and writes what zod takes", () => {
  assert.ok(existsSync(program), `${program} is missing: cargo build -p coord-teams --example teams_files`);
  const cases = [];
  for (const { path, schema, value } of files) {
    for (const [variant] of variants(value)) cases.push({ path, schema, text: JSON.stringify(variant) ?? "" });
  }
  const input = cases.map(({ path, text }) => `${JSON.stringify([path, text])}\n`).join("");
  const run = spawnSync(program, { input, maxBuffer: 1 << 28, encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr);
  const answers = run.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(answers.length, cases.length);
  const counts = { taken: 0, refused: 0 };
  for (const [at, { path, schema, text }] of cases.entries()) {
    const verdict = schema.safeParse(JSON.parse(text));
    const { written, refused, message } = answers[at];
    if (verdict.success && mine(path, verdict.data)) {
      assert.equal(refused, path.startsWith("tasks/") ? "id" : "name", text);
    } else if (verdict.success) {
      assert.equal(refused, undefined, `${refused}: ${text}`);
      // The same to zod, in its order, and as JSON.stringify writes it.
      const again = schema.parse(JSON.parse(written));
      const { topology, templateSource, roles, workflowConfig, dispatchRules, dispatchLog, ...ours } = verdict.data;
      if (path.endsWith("config.json")) {
        assert.deepEqual(again, { ...ours, dispatchRules: [], dispatchLog: [] }, text);
      } else {
        assert.deepEqual(again, verdict.data, text);
      }
      assert.equal(written, JSON.stringify(again, null, 2));
      counts.taken += 1;
    } else {
      assert.equal(written, undefined, text);
      const places = verdict.error.issues.map((issue) => named(issue.path));
      assert.ok(places.includes(refused), `${refused}, zod: ${places.join(", ")}: ${text}`);
      const sentences = verdict.error.issues.filter((issue) => named(issue.path) === refused).map((issue) => issue.message.replaceAll("\n", "\\n"));
      // The plugin's sentence about a team's name begins with the name.
      assert.ok(sentences.some((sentence) => message === sentence || message.endsWith(`: ${sentence}`)), `${refused}: ${message}, zod: ${sentences.join(", ")}: ${text}`);
      counts.refused += 1;
    }
  }
  assert.ok(counts.taken > 100 && counts.refused > 1000, JSON.stringify(counts));
});
