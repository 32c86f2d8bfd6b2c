// The plugins in packaging/plugins, installed by the agents themselves.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import claudeCode from "./agents/claude_code.mjs";
import codex from "./agents/codex.mjs";
import copilot from "./agents/copilot.mjs";
import gemini from "./agents/gemini.mjs";
import { checkPlugin } from "./checks.mjs";
import { ROOT } from "./world.mjs";

const skip = !existsSync(join(ROOT, "packaging", "plugins")) && "SKIPPED: this tree has no plugins";
describe("plugins", { skip }, () => [claudeCode, codex, copilot, gemini].forEach(checkPlugin));
