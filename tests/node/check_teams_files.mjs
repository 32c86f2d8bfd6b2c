// Holds files of opencode-teams against zod 3.24. Each line of the input is a JSON array of a path and a text; the output says how
// many there are, or which is refused.

import { createInterface } from "node:readline";

import { z } from "zod";

import { Config, Message, Task } from "./teams_schemas.mjs";

let count = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const [path, text] = JSON.parse(line);
  const schema = path.startsWith("tasks/") ? Task : path.endsWith("config.json") ? Config : z.array(Message);
  const value = JSON.parse(text);
  const verdict = schema.strict ? schema.strict().safeParse(value) : schema.safeParse(value);
  if (!verdict.success) {
    console.log(`${path}: ${verdict.error.message}`);
    process.exit(1);
  }
  if (text !== JSON.stringify(value, null, 2)) {
    console.log(`${path}: not as the plugin writes it`);
    process.exit(1);
  }
  count += 1;
}
console.log(`${count} files are taken`);
