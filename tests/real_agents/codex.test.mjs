import agent, { withPlainTools } from "./agents/codex.mjs";
import { checkAgent } from "./checks.mjs";

checkAgent(agent);
checkAgent(withPlainTools);
