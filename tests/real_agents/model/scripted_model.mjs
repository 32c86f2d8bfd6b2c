// A model that plays parts. A test writes a part: a list of steps, each of which calls tools. The prompt that gives an agent its part is
// `promptFor(name)`, and the model plays the part wherever an agent shows it that prompt, in the wire format that the agent speaks.
// It listens on a loopback address, and is the only model that an agent under test can reach.

import { createServer } from "node:http";
import { once } from "node:events";
import * as anthropic from "./anthropic.mjs";
import * as chat from "./chat.mjs";
import * as gemini from "./gemini.mjs";
import * as responses from "./responses.mjs";

const WIRES = [anthropic, responses, chat, gemini];
/** How long an answer waits for its condition; less than a run of an agent may take. */
const PATIENCE_MS = 60_000;

/** The prompt by which an agent gets its part. The text is at the start of a line: Coord quotes prompts of others within a line. */
export const promptFor = (part) => `Play part ${part}.`;
const PROMPT = /^[\s"]*Play part ([\w-]+)\./m;

/**
 * @typedef {{ name: string, namespace?: string, input: object | string }} Call
 * @typedef {object} Step
 * @property {(() => Call)[]} calls What the model calls, all at once.
 * @property {() => boolean} [until] The model answers once this holds.
 */

export class ScriptedModel {
  #parts = new Map();
  #server;
  #fail;
  /** Is rejected by the first request for which the script has no answer. */
  failed = new Promise((_, reject) => (this.#fail = reject));
  /** Hosts that agents wanted to reach by their proxy, which is this server too, and lets nothing through. */
  refused = new Set();

  static async start() {
    const model = new ScriptedModel();
    model.failed.catch(() => {});
    model.#server = createServer((request, response) => {
      model.#serve(request, response).catch((error) => {
        model.#fail(error);
        response.writeHead(500).end();
      });
    });
    model.#server.on("connect", (request, socket) => {
      model.refused.add(request.url);
      socket.on("error", () => {});
      socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    });
    model.#server.listen(0, "127.0.0.1");
    await once(model.#server, "listening");
    model.url = `http://127.0.0.1:${model.#server.address().port}`;
    return model;
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /**
   * Gives the model a part. The record that it returns fills while an agent has the part played: `results` are those of the calls, `items`
   * everything that the model was shown. After the last step the model says that it is done, once `end` holds.
   * @param {string} name
   * @param {Step[]} steps
   */
  play(name, steps, end = () => true) {
    const part = { name, steps, end, results: [], items: [], isDone: false };
    this.#parts.set(name, part);
    return part;
  }

  async #serve(request, response) {
    const chunks = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const wire = request.method === "POST" && WIRES.find(({ handles }) => handles(request.url));
    if (!wire) {
      if (!request.url.startsWith("/")) {
        this.refused.add(request.url);
      }
      // Lists of models, counts of tokens and the like: agents go on without.
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const decision = await this.#decide(wire.read(body), () => response.destroyed);
    const { type, body: answer } = wire.answer(body, decision, request.url);
    response.writeHead(200, { "content-type": type }).end(answer);
  }

  /** The next step of the part that the request belongs to. Requests without tools are for titles and summaries: any text will do. */
  async #decide({ items, tools }, isGone) {
    const asked = items.findLastIndex(({ kind, text }) => kind === "user" && PROMPT.test(text));
    if (tools.length === 0 || asked < 0) {
      return { text: "done" };
    }
    const name = PROMPT.exec(items[asked].text)[1];
    const part = this.#parts.get(name);
    if (!part) {
      throw new Error(`there is no part ${name}`);
    }
    const results = items.slice(asked).filter(({ kind }) => kind === "result").map(({ text }) => text);
    Object.assign(part, { items, results });
    let before = 0;
    for (const { calls, until = () => true } of part.steps) {
      if (before === results.length) {
        await wait(until, isGone, name);
        return { calls: calls.map((call) => call()) };
      }
      before += calls.length;
    }
    await wait(part.end, isGone, name);
    part.isDone = true;
    return { text: `Part ${name} is done.` };
  }
}

/** Waits until a condition holds, or the agent is gone. */
async function wait(condition, isGone, name) {
  for (const end = Date.now() + PATIENCE_MS; !condition() && !isGone(); ) {
    if (Date.now() > end) {
      throw new Error(`part ${name} waits for what does not come`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
