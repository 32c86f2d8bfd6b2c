// Checks of each agent. The agent itself runs, configured by `coord init`, and a script is its model, which sees all that the agent would
// show a real one.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { whyMissing } from "./install.mjs";
import { promptFor } from "./model/scripted_model.mjs";
import { Scene } from "./scene.mjs";
import { BOBS_REASON, ROOT, until } from "./world.mjs";

/** All that must hold for an agent that `coord init` has configured. */
export function checkAgent(agent) {
  const configure = ({ world }) => world.coord("init", agent.name, "--yes");
  describeAgent(agent, agent.variant, configure, (scene) => {
    checkLocks(scene);
    if (!agent.runsGitWithoutHooks) {
      checkGuard(scene);
    }
    checkResumption(scene);
    if (agent.spawn) {
      checkSubagents(scene);
    }
    checkHttp(scene);
  });
}

/** All that must hold for an agent with its plugin, in a repository that `coord init` has not seen. */
export function checkPlugin(agent) {
  const install = async ({ world }) => {
    for (const args of agent.pluginCommands(ROOT)) {
      await world.runAgent(agent, args);
    }
  };
  describeAgent({ ...agent, ...agent.withPlugin }, "with its plugin", install, checkLocks);
}

/** Tests of an agent in a world of its own, which `configure` has made ready. */
function describeAgent(agent, variant, configure, check) {
  describe([agent.title, agent.version, variant ?? []].flat().join(" "), { skip: whyMissing(agent) }, () => {
    const scene = new Scene(agent);
    before(async () => {
      await scene.open();
      await configure(scene);
    });
    after(() => scene.close());
    check(scene);
    test("the agent itself has reported no fault", () => assert.deepEqual(agent.faults?.(scene.world) ?? [], []));
    test("the agent contacts only hosts that it has no switch for", () => {
      assert.deepEqual([...scene.model.refused].filter((host) => !agent.reaches?.includes(host)), []);
    });
  });
}

function assertNamesBob(result) {
  for (const text of ["src/held.ts", "bob", BOBS_REASON]) {
    assert.ok(result.includes(text), `${text} is missing in: ${result}`);
  }
}

function checkLocks(scene) {
  describe("a conversation", () => {
    let part;
    const holders = {};
    before(async () => {
      const { coord, read, shell, world, write } = scene;
      const steps = [
        read("src/held.ts"),
        write("src/held.ts", "export const held = 2;\n"),
        shell("echo x > src/held.ts"),
        read("src/free.ts"),
        write("src/free.ts", "export const free = 2;\n"),
        coord("check_status", { file_paths: ["src/held.ts"] }),
        coord("post_status", { file_paths: ["src/free.ts"], status: "WRITING", message: "Going on" }),
        {
          ...shell("git commit --quiet --message Free src/free.ts && git push --quiet"),
          until: () => (holders.written = world.holderOf("src/free.ts")),
        },
      ];
      const look = () => {
        holders.pushed = world.holderOf("src/free.ts");
        return true;
      };
      part = await scene.perform(scene.model.play("alone", steps, look));
    });

    test("sees the locks at its start", () => {
      const shown = part.items.slice(0, part.items.findIndex(({ kind }) => kind === "result"));
      assert.ok(shown.some(({ text }) => text.includes("src/held.ts") && text.includes(BOBS_REASON)));
    });
    test("is denied an edit of a file that bob holds, and the model sees why", () => {
      assertNamesBob(part.results[1]);
    });
    test("is denied a write by its shell, and the model sees why", () => {
      assertNamesBob(part.results[2]);
      assert.equal(scene.world.read("src/held.ts"), "export const held = 1;\n");
    });
    test("claims a free file by its edit", () => {
      assert.equal(scene.world.read("src/free.ts"), "export const free = 2;\n");
      assert.match(holders.written, scene.holder);
    });
    test("has the orchestration command of check_status in its context", () => {
      assert.match(part.results[5], /SWITCH_TASK/);
      assertNamesBob(part.results[5]);
    });
    test("is the same holder by the tools of MCP as by its hooks", () => {
      assert.match(part.results[6], /PROCEED/);
    });
    test("commits and pushes its file, which releases it", () => {
      assert.equal(scene.world.git("show", "origin/main:src/free.ts"), "export const free = 2;\n", part.results[7]);
      assert.equal(holders.pushed, undefined);
    });
  });
}

function checkGuard(scene) {
  test("a commit of bob's file is refused, although no hook of the agent saw the write", async () => {
    const { model, shell, world } = scene;
    const commit = shell(`${world.unseenWrite("src/held.ts")}; git commit --quiet --message Held src/held.ts`);
    const { results } = await scene.perform(model.play("guarded", [commit]));
    world.git("checkout", "--quiet", "src/held.ts");
    assertNamesBob(results[0]);
    assert.equal(world.git("log", "--format=%s", "--", "src/held.ts"), "The shop\n");
  });
}

function checkResumption(scene) {
  describe("a conversation whose process was killed", () => {
    const holders = {};
    let part;
    before(async () => {
      const { read, write, world } = scene;
      const steps = [read("src/first.ts"), write("src/first.ts", "export const first = 2;\n")];
      // Its model never ends the turn.
      const killed = scene.model.play("killed", steps, () => false);
      const conversation = scene.newConversation();
      const run = world.startAgent(scene.agent, scene.agent.run(promptFor("killed"), conversation));
      await until(() => killed.results.length === 2 || run.status !== undefined);
      assert.equal(run.status, undefined, run.printed);
      holders.killed = world.holderOf("src/first.ts");
      await until(() => scene.agent.hasStored?.(world, conversation) ?? true);
      run.kill();
      await run.ended;
      const more = [
        read("src/first.ts"),
        write("src/first.ts", "export const first = 3;\n"),
        read("src/second.ts"),
        write("src/second.ts", "export const second = 2;\n"),
      ];
      part = scene.model.play("resumed", more, () => (holders.resumed = world.holderOf("src/second.ts")));
      await scene.perform(part, scene.agent.resume(promptFor("resumed"), conversation));
    });

    test("edits its files after it was resumed", () => {
      assert.equal(scene.world.read("src/first.ts"), "export const first = 3;\n", part.results[1]);
    });
    test("is the holder that it was", () => {
      assert.match(holders.killed, scene.holder);
      assert.equal(holders.resumed, holders.killed);
    });
  });
}

function checkSubagents(scene) {
  describe("two subagents on one file", () => {
    let one, two, holder;
    before(async () => {
      const { model, read, write, world } = scene;
      // The second reads what the first has written: agents themselves refuse a write over content that was not read.
      const steps = (content, condition) => [{ ...read("src/shared.ts"), until: condition }, write("src/shared.ts", content)];
      one = model.play("one", steps("export const shared = 2;\n"), () => two.results.length === 2);
      const second = steps("export const shared = 3;\n", () => one.results.length === 2);
      two = model.play("two", second, () => (holder = world.holderOf("src/shared.ts")));
      const lead = scene.agent.spawn([promptFor("one"), promptFor("two")]);
      await scene.perform(model.play("lead", lead, () => one.isDone && two.isDone));
    });

    test("the second is denied, and its model sees which subagent holds the file", () => {
      assert.equal(scene.world.read("src/shared.ts"), "export const shared = 2;\n");
      assert.ok(holder.includes("::"), holder);
      assert.ok(two.results[1].includes("src/shared.ts") && two.results[1].includes(holder), two.results[1]);
    });
  });
}

function checkHttp(scene) {
  describe("MCP over HTTP", () => {
    let part;
    before(async () => {
      const { coord, read, world, write } = scene;
      await scene.agent.useHttp(world, scene.documentedHttp());
      const { repo_url, head } = JSON.parse(world.coord("status", "--json"));
      const place = { repo_url, branch: "main", agent_head: head };
      const steps = [
        read("src/remote.ts"),
        write("src/remote.ts", "export const remote = 2;\n"),
        coord("check_status", { ...place, file_paths: ["src/held.ts"] }),
        coord("post_status", { ...place, file_paths: ["src/remote.ts"], status: "WRITING", message: "Going on" }),
      ];
      part = await scene.perform(scene.model.play("remote", steps));
    });

    test("the orchestration command reaches the model", () => {
      assert.match(part.results[2], /SWITCH_TASK/);
      assertNamesBob(part.results[2]);
    });
    test("a claim is for the holder that the hooks know", () => {
      assert.match(part.results[3], /PROCEED/);
    });
  });
}
