import agent from "./agents/claude_code.mjs";
import { checkAgent } from "./checks.mjs";

checkAgent(agent);
