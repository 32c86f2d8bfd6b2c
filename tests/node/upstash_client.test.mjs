// The official client of Upstash against the store on a port, over a real redis-server.
//
//   cargo build -p coord-cli --example upstash_redis
//   npm ci && npm test
//
// UPSTASH_REDIS_BIN names the program that listens (default: the example in the target folder).

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { after, before, beforeEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Redis } from "@upstash/redis";

const TOKEN = "the-token";
const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../target", import.meta.url));
const program = process.env.UPSTASH_REDIS_BIN ?? join(target, "debug", "examples", "upstash_redis");

const children = [];
let folder;
let url;
let redis;

function start(command, args, options) {
  const child = spawn(command, args, options);
  children.push(child);
  return child;
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function client(options = {}) {
  return new Redis({ url, token: TOKEN, enableAutoPipelining: false, retry: false, enableTelemetry: false, ...options });
}

before(async () => {
  assert.ok(existsSync(program), `${program} is missing: cargo build -p coord-cli --example upstash_redis`);
  folder = mkdtempSync(join(tmpdir(), "coord-upstash-"));
  const port = await freePort();
  const server = start("redis-server", ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--dir", folder], {
    stdio: "ignore",
  });
  server.on("error", (error) => {
    throw new Error(`redis-server does not start: ${error.message}`);
  });
  const listener = start(program, ["--redis", `redis://127.0.0.1:${port}`, "--listen", "127.0.0.1:0"], {
    env: { ...process.env, UPSTASH_LISTEN_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "inherit"],
  });
  url = await new Promise((resolve, reject) => {
    listener.once("exit", (code) => reject(new Error(`the listener ended with ${code}`)));
    listener.stdout.on("data", (data) => {
      const found = /http:\/\/\S+/.exec(data.toString());
      if (found) resolve(found[0]);
    });
  });
  redis = client();
  for (let attempt = 0; ; attempt += 1) {
    try {
      assert.equal(await redis.ping(), "PONG");
      break;
    } catch (error) {
      if (attempt === 100) throw error;
      await pause(50);
    }
  }
});

after(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    }
  }
  if (folder) rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => redis.flushdb());

describe("values", () => {
  test("strings, numbers and objects come back as they went", async () => {
    for (const value of ["text", "é🦀 \n\"", 7, -1.5, true, { a: [1, { b: null }] }, "OK", "b64=="]) {
      assert.equal(await redis.set("k", value), "OK");
      assert.deepEqual(await redis.get("k"), value);
    }
    assert.equal(await redis.get("none"), null);
    assert.deepEqual(await redis.mget("k", "none"), ["b64==", null]);
  });

  test("options of a command arrive", async () => {
    assert.equal(await redis.set("k", "v", { ex: 100, nx: true }), "OK");
    assert.equal(await redis.set("k", "w", { nx: true }), null);
    assert.ok((await redis.ttl("k")) > 90);
    assert.equal(await redis.incrby("n", 41), 41);
    assert.equal(await redis.exists("k", "n", "none"), 2);
  });

  test("responses without base64 are readable too", async () => {
    const plain = client({ responseEncoding: false });
    await plain.set("k", "é");
    assert.equal(await plain.get("k"), "é");
    assert.deepEqual(await plain.mget("k", "none"), ["é", null]);
  });
});

describe("collections", () => {
  test("hashes", async () => {
    assert.equal(await redis.hset("h", { a: 1, b: "two", c: { deep: [true] } }), 3);
    assert.deepEqual(await redis.hgetall("h"), { a: 1, b: "two", c: { deep: [true] } });
    assert.deepEqual(await redis.hmget("h", "a", "none"), { a: 1, none: null });
    assert.equal(await redis.hdel("h", "a"), 1);
    assert.equal(await redis.hlen("h"), 2);
    assert.equal(await redis.hgetall("none"), null);
  });

  test("sorted sets", async () => {
    assert.equal(await redis.zadd("z", { score: 2, member: "two" }, { score: 1.5, member: "one" }), 2);
    assert.deepEqual(await redis.zrange("z", 0, -1, { withScores: true }), ["one", 1.5, "two", 2]);
    assert.deepEqual(await redis.zrange("z", "-inf", 1.7, { byScore: true }), ["one"]);
    assert.equal(await redis.zscore("z", "one"), 1.5);
    assert.equal(await redis.zrem("z", "one"), 1);
    assert.equal(await redis.zcard("z"), 1);
  });

  test("streams", async () => {
    const first = await redis.xadd("s", "*", { event: "granted", files: "a.ts" });
    const second = await redis.xadd("s", "*", { event: "released" });
    assert.match(first, /^\d+-\d+$/);
    assert.equal(await redis.xlen("s"), 2);
    const all = await redis.xrange("s", "-", "+");
    assert.deepEqual(all, { [first]: { event: "granted", files: "a.ts" }, [second]: { event: "released" } });
    const read = await redis.xread("s", first);
    assert.deepEqual(read, [["s", [[second, ["event", "released"]]]]]);
    assert.equal(await redis.xtrim("s", { strategy: "MAXLEN", threshold: 1, exactness: "=" }), 1);
  });
});

describe("scripts", () => {
  const SCRIPT = "redis.call('INCRBY', KEYS[1], ARGV[1]); return {KEYS[1], redis.call('GET', KEYS[1]), 7, false}";

  test("EVAL, then EVALSHA", async () => {
    assert.deepEqual(await redis.eval(SCRIPT, ["n"], [2]), ["n", 2, 7, null]);
    const sha = await redis.scriptLoad(SCRIPT);
    assert.match(sha, /^[0-9a-f]{40}$/);
    assert.deepEqual(await redis.evalsha(sha, ["n"], [3]), ["n", 5, 7, null]);
    assert.deepEqual(await redis.scriptExists(sha, "0".repeat(40)), [1, 0]);
    await redis.scriptFlush();
    await assert.rejects(redis.evalsha(sha, ["n"], [3]), /NOSCRIPT/);
  });

  test("the flag that only Upstash knows is accepted, and the client's own SHA-1 stays good", async () => {
    const flagged = `#!lua flags=allow-key-locking\nreturn redis.call('INCRBY', KEYS[1], ARGV[1])`;
    const script = redis.createScript(flagged);
    assert.equal(await script.exec(["n"], ["4"]), 4);
    assert.equal(await script.exec(["n"], ["4"]), 8);
    assert.equal(await redis.scriptLoad(flagged), script.sha1);
    assert.equal(await redis.evalsha(script.sha1, ["n"], ["1"]), 9);
    assert.deepEqual(await redis.scriptExists(script.sha1), [1]);
    await redis.scriptFlush();
    assert.equal(await script.exec(["n"], ["1"]), 10);
  });

  test("an error inside a script is an error of the command", async () => {
    await redis.set("text", "x");
    await assert.rejects(redis.eval("return redis.call('INCR', KEYS[1])", ["text"], []), /not an integer/);
    await assert.rejects(redis.eval("return redis.error_reply('MINE because')", [], []), /MINE because/);
    await assert.rejects(redis.eval("this is no Lua", [], []), /Error compiling script/);
  });
});

describe("batches", () => {
  test("a pipeline answers each command in order", async () => {
    const pipeline = redis.pipeline().set("k", "v").incr("n").get("k").hset("h", { a: 1 }).hgetall("h").get("none");
    assert.deepEqual(await pipeline.exec(), ["OK", 1, "v", 1, { a: 1 }, null]);
  });

  test("an error in a pipeline is that command's alone", async () => {
    const results = await redis.pipeline().set("k", "v").lpush("k", "x").get("k").exec({ keepErrors: true });
    assert.equal(results[0].result, "OK");
    assert.match(results[1].error, /^WRONGTYPE/);
    assert.equal(results[2].result, "v");
    await assert.rejects(redis.pipeline().get("k").lpush("k", "x").exec(), /Command 2 \[ lpush \] failed: WRONGTYPE/);
  });

  test("a transaction runs whole, with the errors of its commands in their places", async () => {
    assert.deepEqual(await redis.multi().set("k", "v").incr("n").get("k").exec(), ["OK", 1, "v"]);
    const results = await redis.multi().incr("k").incr("n").exec({ keepErrors: true });
    assert.match(results[0].error, /not an integer/);
    assert.equal(results[1].result, 2);
  });

  test("a transaction with a command that does not exist is discarded whole", async () => {
    await redis.set("k", "v");
    await assert.rejects(redis.multi().set("k", "changed").del().exec(), /EXECABORT/);
    const response = await fetch(`${url}/multi-exec`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify([["SET", "k", "changed"], ["NOSUCH"]]),
    });
    assert.equal(response.status, 400);
    assert.match((await response.json()).error, /^EXECABORT/);
    assert.equal(await redis.get("k"), "v");
  });

  test("concurrent increments of one counter all count", async () => {
    await Promise.all(Array.from({ length: 50 }, () => redis.incr("n")));
    assert.equal(await redis.get("n"), 50);
  });
});

describe("publish and subscribe", () => {
  test("a subscriber gets what is published after it subscribed, and nothing after it left", { timeout: 20_000 }, async () => {
    const subscriber = redis.subscribe(["news"]);
    const messages = [];
    const subscribed = new Promise((resolve) => subscriber.on("subscribe", resolve));
    const third = new Promise((resolve) => {
      subscriber.on("message", ({ channel, message }) => {
        messages.push([channel, message]);
        if (messages.length === 3) resolve();
      });
    });
    assert.equal(await subscribed, 1);
    assert.equal(await redis.publish("news", "hello, world"), 1);
    assert.equal(await redis.publish("news", { event: "granted", files: ["a", "b"] }), 1);
    assert.equal(await redis.publish("other", "not for us"), 0);
    assert.equal(await redis.publish("news", "é🦀"), 1);
    await third;
    assert.deepEqual(messages, [
      ["news", "hello, world"],
      ["news", { event: "granted", files: ["a", "b"] }],
      ["news", "é🦀"],
    ]);
    await subscriber.unsubscribe();
    for (let attempt = 0; (await redis.publish("news", "late")) !== 0; attempt += 1) {
      assert.ok(attempt < 200, "the subscription ends on the server too");
      await pause(25);
    }
    assert.equal(messages.length, 3);
  });
});

describe("errors and auth", () => {
  test("an error of a command reaches the caller with its words", async () => {
    await redis.set("k", "v");
    await assert.rejects(redis.lpush("k", "x"), /WRONGTYPE Operation against a key/);
    await assert.rejects(redis.incr("k"), /ERR value is not an integer or out of range/);
  });

  test("commands that would hold or change the shared connection are refused", async () => {
    for (const command of [["BLPOP", "k", 0], ["SELECT", 1], ["SUBSCRIBE", "c"], ["MULTI"], ["CLIENT", "REPLY", "OFF"]]) {
      await assert.rejects(redis.exec(command), /Command is not available/);
    }
    assert.equal(await redis.ping(), "PONG");
  });

  test("a wrong token and none are refused", async () => {
    await assert.rejects(client({ token: "wrong" }).get("k"), /WRONGPASS/);
    await assert.rejects(client({ token: "wrong" }).pipeline().get("k").exec(), /WRONGPASS/);
    const response = await fetch(`${url}/get/k`);
    assert.equal(response.status, 401);
    assert.equal((await fetch(`${url}/get/k?_token=${TOKEN}`)).status, 200);
  });

  test("every answer carries a fresh sync token", async () => {
    const tokens = new Set();
    for (let count = 0; count < 3; count += 1) {
      const response = await fetch(`${url}/ping`, { headers: { authorization: `Bearer ${TOKEN}` } });
      tokens.add(response.headers.get("upstash-sync-token"));
    }
    assert.equal(tokens.size, 3);
    assert.ok(!tokens.has(null));
  });
});
