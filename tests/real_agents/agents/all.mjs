// The agents that are run, each with its pinned version. `docs/reference/hooks.md` names them.

import claudeCode from "./claude_code.mjs";
import codex from "./codex.mjs";
import copilot from "./copilot.mjs";
import gemini from "./gemini.mjs";
import opencode from "./opencode.mjs";

export const AGENTS = [claudeCode, codex, gemini, copilot, opencode];
