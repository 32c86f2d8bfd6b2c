//! The output of the commands that agents run.

use super::{ADA, BOB, Messages, prints, served_shop, write};

pub(super) fn of_locks() -> Messages {
    let world = served_shop();
    let mut all = Messages::new("commands");
    let mut add = |name, who, line: &str| all.add(&world, name, &prints(&world, who, line));
    add("check, free", ADA, "check src/db.ts");
    let grow = "claim src/db.ts -m 'Growing the pool with the load'";
    add("claim, granted", ADA, grow);
    add("check, held", BOB, "check src/db.ts");
    add("claim, held", BOB, "claim src/db.ts -m 'Retrying failed queries'");
    add("wait, free", BOB, "wait src/auth.ts");
    add("wait, in vain", BOB, "wait src/db.ts --for 1");
    add("status, one holder", BOB, "status");
    add("log", BOB, "log");
    write(&world, "src/db.ts", "export const query = 2;\n");
    add("release, not pushed", ADA, "release src/db.ts");
    add("release, not held", BOB, "release src/db.ts");
    world.clone.git(&["commit", "--quiet", "-am", "Grow"]);
    world.clone.git(&["push", "--quiet"]);
    add("release, pushed", ADA, "release src/db.ts");
    add("wrong usage", ADA, "claim src/db.ts --mesage x");
    all
}

pub(super) fn of_teams() -> Messages {
    let world = served_shop();
    let mut all = Messages::new("commands, teams");
    let mut add = |name, who, line: &str| all.add(&world, name, &prints(&world, who, line));
    add("team, create", ADA, "team create shop");
    add("team, join", BOB, "team join shop");
    add("team, show", BOB, "team show");
    add("team, list", BOB, "team list");
    let retry = "task add 'Retry failed queries' --file src/db.ts";
    add("task, add", ADA, retry);
    prints(&world, ADA, "task add 'Show the retries' --depends-on t1");
    add("task, list", BOB, "task list");
    add("task, show", BOB, "task show t1");
    add("task, next", ADA, "task next");
    add("task, none ready", BOB, "task next");
    add("task, taken", BOB, "task claim t1");
    add("task, not yours", BOB, "task done t1");
    add("task, edit", ADA, "task edit t1 --note 'Half done'");
    add("task, assign", ADA, &format!("task assign t2 {BOB}"));
    add("task, release", ADA, "task release t1");
    add("task, claim", ADA, "task claim t1");
    add("task, done", ADA, "task done t1 --result 'Retried three times'");
    add("task, graph", ADA, "task graph");
    add("task, rm", ADA, "task rm t2");
    add("message, send", ADA, "message send --to broadcast 'Retries are in'");
    let to_eve = "message send --to eve 'Retries are in'";
    add("message, unknown member", ADA, to_eve);
    add("message, list", ADA, "message list");
    add("message, read", BOB, "message read");
    add("message, none", BOB, "message read");
    add("team, hand-over", ADA, &format!("team hand-over {BOB}"));
    prints(&world, BOB, &format!("team hand-over {ADA}"));
    let folder = world.clone.path().join("teams").display().to_string();
    add("team, export", ADA, &format!("team export --dir {folder}"));
    add("team, sync", ADA, &format!("team sync --dir {folder}"));
    let request = "team shutdown request --reason 'The day is over'";
    add("team, shutdown request", ADA, request);
    let reject = "team shutdown reject s1 --reason 't2 is open'";
    add("team, shutdown reject", BOB, reject);
    prints(&world, ADA, request);
    add("team, shutdown approve", BOB, "team shutdown approve s2");
    add("team, leave", BOB, "team leave");
    add("team, leader leaves", ADA, "team leave");
    add("team, delete", ADA, "team delete shop");
    all
}

pub(super) fn of_intents() -> Messages {
    let world = served_shop();
    let mut all = Messages::new("commands, intents");
    let mut add = |name, who, line: &str| all.add(&world, name, &prints(&world, who, line));
    let new = |id: &str| {
        let criterion = "--criterion 'A failed query is retried'";
        format!("intent new {id} --name 'Retry failed queries' --scope src/db.ts {criterion}")
    };
    add("intent, new", ADA, &new("REQ-1"));
    prints(&world, ADA, &new("REQ-2"));
    add("intent, list", ADA, "intent list");
    add("intent, show", ADA, "intent show REQ-1");
    add("intent, check", ADA, "intent check REQ-1");
    add("intent, select", ADA, "intent select REQ-1");
    add("intent, overlap", BOB, "intent select REQ-2");
    add("intent, unknown", BOB, "intent select REQ-9");
    let outside = "claim README.md -m 'Describing the retries'";
    add("claim, outside scope", ADA, outside);
    add("intent, unmet", ADA, "intent complete REQ-1");
    let met = "intent edit REQ-1 --met 'A failed query is retried' --evidence 'npm test: 12 passed'";
    add("intent, met", ADA, met);
    add("intent, person's act", ADA, "intent unblock REQ-1");
    let block = "intent block REQ-1 --reason 'Waiting for the driver'";
    add("intent, block", ADA, block);
    add("intent, blocked", ADA, "claim src/db.ts -m 'Counting the retries'");
    let abandon = "intent abandon REQ-2 --reason 'REQ-1 has it'";
    add("intent, abandon", ADA, abandon);
    add("map", ADA, "map");
    add("why", ADA, "why src/db.ts");
    add("verify", ADA, "verify src/db.ts");
    let tested = "ledger record --kind call --tool npm --summary '12 passed'";
    add("ledger, record", ADA, tested);
    add("ledger, log of five", ADA, "ledger log --limit 5");
    add("ledger, verify", ADA, "ledger verify");
    add("sync", ADA, "sync");
    all
}
