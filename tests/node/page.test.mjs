// The page, over a server that answers what a test says.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, test } from "node:test";

import { JSDOM } from "jsdom";

const read = (name) => readFileSync(new URL(`../../public/${name}`, import.meta.url), "utf8");
const WATCHED = "?repo_url=https%3A%2F%2Fgithub.com%2Facme%2Fshop&branch=main";
const LOCK = { user: "ada", status: "WRITING", message: "Adding a pool", expiry: Date.now() / 1000 + 300 };

let dom;
afterEach(() => dom?.window.close());

const json = (body, status = 200) => new Response(JSON.stringify(body), { status });
const graph = (locks) => json({ state: "ready", version: "9bee4e1", nodes: [], edges: [], locks });

/** What the page does every second, and what it does next: time passes when a test says so. */
let everySecond;
let next;

/** Opens the page; `answer(url)` gives what the server answers, or does not. */
function open(search, answer) {
  dom = new JSDOM(read("index.html"), { url: `http://127.0.0.1:3000/${search}`, runScripts: "outside-only" });
  dom.window.fetch = async (url) => answer(String(url));
  dom.window.setInterval = (act) => (everySecond = act);
  dom.window.setTimeout = (act) => (next = act);
  dom.window.eval(read("coord.js"));
  return (selector) => dom.window.document.querySelector(selector);
}

/** Waits until something holds. */
async function until(holds, what) {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 200, what());
    await pause(10);
  }
}

/** Waits until the page says something that matches. */
function says(at, pattern) {
  const said = () => at("#state").textContent;
  return until(() => pattern.test(said()), said);
}

test("nothing is called free while the server has not answered", async () => {
  const at = open(WATCHED, () => new Promise(() => {}));
  await says(at, /Asking/);
  everySecond();
  assert.equal(at("#none").hidden, true);
});

test("nothing is called free beside an error", async () => {
  const at = open(WATCHED, () => json({ error: "OFFLINE", message: "the store cannot be reached" }, 503));
  await says(at, /Cannot show the locks.*the store cannot be reached/);
  everySecond();
  assert.equal(at("#none").hidden, true);
  assert.equal(at("#locks").hidden, true);
});

test("no lock is said when the server says so", async () => {
  const at = open(WATCHED, () => graph({}));
  await says(at, /Watching main/);
  assert.equal(at("#none").hidden, false);
});

test("locks that were seen stay, and are called old, when the server goes away", async () => {
  let answers = 0;
  const at = open(WATCHED, () => {
    if (answers++) throw new TypeError("gone");
    return graph({ "src/db.ts": LOCK });
  });
  await says(at, /Watching main/);
  assert.match(at("#locks tbody").textContent, /src\/db\.tsadawritingAdding a pool/);
  next();
  await says(at, /the last that were seen.*gone/);
  assert.equal(at("#locks").hidden, false);
  assert.equal(at("#none").hidden, true);
});

test("without a question, the page lists what is served, and each leads to its locks", async () => {
  const repositories = [
    { repo_url: "https://github.com/acme/shop", branch: "main" },
    { repo_url: "https://localhost/local/<b>", branch: null },
  ];
  const at = open("", (url) => (url === "served.json" ? json({ repositories }) : graph({})));
  await until(() => !at("#served").hidden, () => "nothing is listed");
  const links = [...at("#served").querySelectorAll("a")];
  assert.deepEqual(links.map((link) => link.textContent), ["github.com/acme/shop (main)", "localhost/local/<b>"]);
  assert.equal(new URL(links[0].href).search, WATCHED);
});

test("where nothing tells what is served, the page asks for it", async () => {
  const at = open("", () => json({ error: "NOT_FOUND" }, 404));
  await pause(50);
  assert.equal(at("#served").hidden, true);
  await says(at, /Name a repository/);
});
