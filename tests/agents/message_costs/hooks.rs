//! The texts of hooks and of the guard for a model.

use super::{ADA, BOB, Messages, given, prints, served_shop, shop, write};
use crate::guard::{git, install, stderr_of};
use crate::hook::idle::{answered, block_until_it_waits, interactive, woken};
use crate::hook::{Session, claude};
use coord_test_worlds::hook_forms::CLAUDE_CODE;

pub(super) fn of_locks() -> Messages {
    let world = served_shop();
    let (ada, bob) = (claude(&world, ADA), claude(&world, BOB));
    let mut all = Messages::new("hooks");
    let mut add = |name, session: &Session<'_>, answer| all.add(&world, name, &given(session, &answer));
    add("session start, nobody at work", &ada, ada.starts());
    bob.gets_prompt("Make the pool of connections grow with the load of the day");
    add("edit, granted", &bob, bob.edits("src/db.ts"));
    add("session start, one holder", &ada, ada.starts());
    add("prompt, others' locks", &ada, ada.gets_prompt("Retry failed queries"));
    add("prompt, no news", &ada, ada.gets_prompt("Go on"));
    add("edit, held", &ada, ada.edits("src/db.ts"));
    add("edit, held neighbor", &ada, ada.edits("src/page.ts"));
    add("command, writes held file", &ada, ada.runs("sed -i s/a/b/ src/db.ts"));
    write(&world, "src/db.ts", "export const query = 2;\n");
    add("after edit", &bob, bob.has_edited("src/db.ts"));
    ada.has_read("README.md");
    write(&world, "README.md", "# Store\n");
    add("edit, changed since read", &ada, ada.edits("README.md"));
    ada.has_read("README.md");
    add("command, discards held file", &ada, ada.runs("git checkout -- ."));
    let force = "coord release --force src/db.ts --reason x";
    add("command, forced release", &ada, ada.runs(force));
    install(&world, "pre-commit", "");
    let commit = ["commit", "-qam", "Grow"];
    let refused = git(&world, world.clone.path(), &[("COORD_AGENT", ADA)], &commit);
    all.add(&world, "commit, held file", &stderr_of(&refused));
    all
}

pub(super) fn of_other_work() -> Messages {
    let mut all = Messages::new("hooks, others");
    let mut add = |name, session: &Session<'_>, answer| all.add(session.world, name, &given(session, &answer));
    let behind = shop();
    let tree = behind.worktree("tree");
    behind.clone.commit(&[("README.md", "# Store\n")]);
    behind.clone.git(&["push", "--quiet"]);
    let ada = claude(&behind, ADA).at(tree.path());
    add("edit, behind", &ada, ada.edits("src/auth.ts"));

    let unseen = shop();
    let tree = unseen.worktree("tree");
    let bob = claude(&unseen, BOB).at(tree.path());
    bob.gets_prompt("Count retries");
    bob.edits("src/auth.ts");
    let ada = claude(&unseen, ADA);
    ada.gets_prompt("Type into the shell");
    write(&unseen, "src/auth.ts", "typed");
    ada.ends_turn();
    add("after tool, wrote held file", &ada, ada.has_run("ls"));
    add("prompt, file overwritten", &bob, bob.gets_prompt("Go on"));

    let unpushed = shop();
    unpushed.clone.git(&["checkout", "--quiet", "-b", "feature"]);
    unpushed.clone.git(&["config", "coord.branch", "feature"]);
    let ada = claude(&unpushed, ADA);
    add("edit, branch never pushed", &ada, ada.edits("README.md"));
    unpushed.clone.git(&["config", "coord.url", "http://127.0.0.1:9"]);
    add("edit, no server", &ada, ada.edits("README.md"));

    let idle = shop();
    let (ada, bob) = (claude(&idle, ADA), claude(&idle, BOB));
    bob.edits("src/auth.ts");
    ada.edits("src/auth.ts");
    ada.ends_turn();
    let waiter = interactive(&ada);
    block_until_it_waits(&idle, ADA);
    bob.ends_turn();
    all.add(&idle, "idle, file free", &woken(&CLAUDE_CODE, &answered(waiter)));
    all
}

pub(super) fn of_teams() -> Messages {
    let world = served_shop();
    prints(&world, BOB, "team create shop");
    prints(&world, ADA, "team join shop");
    let ada = claude(&world, ADA);
    let mut all = Messages::new("hooks, teams");
    let mut add = |name, answer| all.add(&world, name, &given(&ada, &answer));
    let send = "message send --to broadcast 'The pool grows now; use query().'";
    prints(&world, BOB, send);
    add("session start, message", ada.starts());
    world.clone.git(&["config", "coord.keepGoing", "true"]);
    prints(&world, BOB, send);
    add("prompt, message", ada.gets_prompt("Go on"));
    add("after tool, no news", ada.has_run("ls"));
    let task = "task add 'Retry failed queries' --file src/db.ts";
    prints(&world, BOB, task);
    add("turn end, task ready", ada.ends_turn());
    let end = "team shutdown request --reason 'The day is over'";
    prints(&world, BOB, end);
    add("after tool, shutdown", ada.has_run("ls"));
    all
}

pub(super) fn of_intents() -> Messages {
    let world = shop();
    // The command starts the server.
    let mut start = world.coord(world.clone.path());
    start.args(["intent", "list"]).env("COORD_INTENT_POLICY", "required");
    assert!(start.output().unwrap().status.success());
    for (id, name, file) in [
        ("REQ-1", "Retry failed queries", "src/db.ts"),
        ("REQ-2", "Log in with a link", "src/auth.ts"),
    ] {
        let criterion = "--criterion 'A failed query is retried'";
        let new = format!("intent new {id} --name '{name}' --scope {file} {criterion}");
        prints(&world, BOB, &new);
    }
    prints(&world, BOB, "intent select REQ-2");
    let (ada, bob) = (claude(&world, ADA), claude(&world, BOB));
    bob.edits("src/auth.ts");
    let mut all = Messages::new("hooks, intents");
    let mut add = |name, answer| all.add(&world, name, &given(&ada, &answer));
    add("session start, required", ada.starts());
    add("edit, none selected", ada.edits("src/db.ts"));
    prints(&world, ADA, "intent select REQ-1");
    add("prompt, selected", ada.gets_prompt("Go on"));
    add("edit, outside scope", ada.edits("README.md"));
    add("edit, another intent's file", ada.edits("src/auth.ts"));
    add("command, person's act", ada.runs("coord intent unblock REQ-1"));
    write(&world, ".intentignore", "*.lock\n");
    add("edit, ignored", ada.edits("yarn.lock"));
    let block = "intent block REQ-1 --reason 'Waiting for the new driver'";
    prints(&world, ADA, block);
    add("edit, blocked", ada.edits("src/db.ts"));
    all
}
