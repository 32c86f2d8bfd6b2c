// `docs/reference/hooks.md` names the versions that are run here. COORD_UPDATE_DOCS=1 writes them.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AGENTS } from "./agents/all.mjs";
import { ROOT } from "./world.mjs";

const PAGE = join(ROOT, "docs", "reference", "hooks.md");
const ROW = /^\| tested version \|.*$/m;

test("the documents name the versions of the agents that are run", () => {
  const page = readFileSync(PAGE, "utf8");
  const [, columns] = /^\| \| (Claude Code \|.*) \|$/m.exec(page);
  const versions = columns.split(" | ").map((title) => AGENTS.find((agent) => agent.title === title)?.version ?? "");
  const row = ["| tested version |", ...versions.map((version) => (version ? ` ${version} |` : " |"))].join("");
  if (process.env.COORD_UPDATE_DOCS) {
    writeFileSync(PAGE, page.replace(ROW, row));
  } else {
    assert.equal(ROW.exec(page)?.[0], row);
  }
  for (const { title, version } of AGENTS) {
    assert.ok(versions.includes(version), title);
  }
});
