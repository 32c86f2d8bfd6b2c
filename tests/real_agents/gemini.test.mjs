import agent from "./agents/gemini.mjs";
import { checkAgent } from "./checks.mjs";

checkAgent(agent);
