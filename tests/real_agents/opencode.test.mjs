import agent from "./agents/opencode.mjs";
import { checkAgent } from "./checks.mjs";

checkAgent(agent);
