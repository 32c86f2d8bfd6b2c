// One agent, the world that it works in, and the model that it has.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { modulesOf, PLATFORM } from "./install.mjs";
import { promptFor, ScriptedModel } from "./model/scripted_model.mjs";
import { ROOT, World } from "./world.mjs";

export class Scene {
  constructor(agent) {
    this.agent = agent;
    /** The ids of its conversations as holders. */
    this.holder = new RegExp(`^${agent.name}-[0-9a-f]{8}$`);
  }

  async open() {
    this.model = await ScriptedModel.start();
    this.world = new World(this.model, this.agent.program(modulesOf(this.agent), PLATFORM));
    this.agent.configure(this.world);
    await this.world.serve();
  }

  async close() {
    await this.world?.remove();
    await this.model?.stop();
  }

  /** Steps of one call. What a call needs to know of the working copy is read when the model calls. */
  read = (file) => ({ calls: [() => this.agent.calls.read(this.world.path(file))] });
  write = (file, content) => ({ calls: [() => this.agent.calls.write(this.world.path(file), content)] });
  shell = (command) => ({ calls: [() => this.agent.calls.shell(command)] });
  coord = (tool, input) => ({ calls: [() => this.agent.calls.coord(tool, input)] });

  /** A name for a conversation, where the agent lets its user choose one. */
  newConversation() {
    return randomUUID();
  }

  /** Has the agent play a part to its end; returns the part. */
  async perform(part, args = this.agent.run(promptFor(part.name), this.newConversation())) {
    const printed = await Promise.race([this.world.runAgent(this.agent, args), this.model.failed]);
    assert.ok(part.isDone, `after ${part.results.length} results of part ${part.name}, the agent printed:\n${printed}`);
    return part;
  }

  /** What `docs/reference/mcp.md` has an agent's user write for a server without a credential: a command line, or JSON. For the server here. */
  documentedHttp() {
    const [, table] = readFileSync(join(ROOT, "docs", "reference", "mcp.md"), "utf8").split("## Configuration");
    const row = table.split("\n").find((line) => line.startsWith(`| ${this.agent.title}`));
    const [, line] = /^\|[^|]*\| `([^`]*)`/.exec(row);
    return line.replace("http://localhost:3000", this.world.url);
  }
}
