import agent from "./agents/copilot.mjs";
import { checkAgent } from "./checks.mjs";

checkAgent(agent);
