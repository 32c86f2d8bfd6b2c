//! Text of other people in the context of a model, and on a terminal. Every string field of every request gets hostile texts; what the
//! server takes is looked for in every output. The same for texts that another version has stored.
//!
//! - `hostile`: the texts, and what no output may make of them
//! - `fields`: the fields, from the documents; `walk`: the requests
//! - `outputs`: the outputs; `site`: the repository, its server, and its store

mod fields;
mod hostile;
mod outputs;
mod site;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use self::fields::Operation;
use self::hostile::{TAILS, WRITER, everything, markers};
use self::outputs::Output;
use self::site::Site;
use self::walk::Walk;

/// The text that follows the marker while it is not hostile yet.
const PLAIN: &str = " said";

/// Fields whose texts are taken and not shown, each with why. Filters of reading requests are not among them: nothing keeps them.
const NOT_SHOWN: [(&str, &str); 23] = [
    ("post /api/check_status file_paths", "a check keeps nothing"),
    ("tool check_status file_paths", "a check keeps nothing"),
    ("post /api/ledger/verify file_path", "compared with what is recorded"),
    (
        "post /api/intents/{id}/usage contributor",
        "in the line of the ledger where a limit is met",
    ),
    (
        "post /api/intents/{id}/usage session_id",
        "in the line of the ledger where a limit is met",
    ),
    ("post /api/intents/{id}/usage digest", "compared with the last call"),
    ("post /api/intents/{id}/usage name", "in the sentence of the breaker"),
    ("post /api/post_status contributor", "in lines about intents"),
    ("post /api/post_status session_id", "in lines about intents"),
    ("post /api/post_status digest", "compared with the last call"),
    ("post /api/post_status name", "in the sentence of the breaker"),
    (
        "post /api/teams/{team}/shutdown shutdown_id",
        "read with the other steps",
    ),
    ("tool task_list text", "a filter"),
    ("tool task_update agent_head", "read with the other actions"),
    ("tool task_update branch", "read with the other actions"),
    ("tool task_update new_repo_head", "read with the other actions"),
    ("tool task_update result", "read with the other actions"),
    ("tool task_update work_branch", "read with the other actions"),
    ("tool team handle", "read with the other actions"),
    ("tool team reason", "read with the other actions"),
    ("tool team shutdown_id", "read with the other actions"),
    ("tool team target", "read with the other actions"),
    ("tool update_intent reason", "read with the other actions"),
];

/// Fields that are names of files or branches: shown in one line, and not quoted.
const NAMES: [&str; 4] = ["file_path", "file_paths", "files", "file"];

/// The operations of the document, and the tools.
async fn operations(site: &Site) -> Vec<Operation> {
    let document: Json = serde_json::from_str(include_str!("../../../public/openapi.json")).unwrap();
    let listed = site.mcp(WRITER, "tools/list", json!({})).await;
    let mut all = fields::operations(&document);
    all.extend(fields::tools(&listed["result"]));
    assert!(all.len() > 50, "{}", all.len());
    all
}

/// Asserts that no output has a problem, and returns the numbers of the texts that were seen.
async fn judge_outputs(site: &Site, walk: &Walk<'_>) -> BTreeSet<usize> {
    let outputs = outputs::all(site).await;
    let is_name = |number: usize| {
        walk.sent
            .get(number)
            .is_some_and(|sent| NAMES.contains(&sent.field.as_str()))
    };
    let problem = |output: &Output| Some(format!("{}: {}", output.name, output.problem(is_name)?));
    let problems: Vec<String> = outputs.iter().filter_map(problem).collect();
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems.join("\n")
    );
    let seen = outputs.iter().flat_map(|output| markers(&output.text));
    seen.map(|(number, _)| number).collect()
}

/// The fields of which a text was taken, and none was seen.
fn lost(walk: &Walk<'_>, seen: &BTreeSet<usize>) -> Vec<String> {
    let mut fields: BTreeMap<&str, bool> = BTreeMap::new();
    for (number, sent) in walk.sent.iter().enumerate().filter(|(_, sent)| sent.is_taken) {
        let is_listed = NOT_SHOWN.iter().any(|(name, _)| sent.name == *name) || sent.name.starts_with("get ");
        *fields.entry(&sent.name).or_default() |= seen.contains(&number) || is_listed;
    }
    let lost = fields.into_iter().filter(|(_, is_seen)| !is_seen);
    lost.map(|(name, _)| name.to_owned()).collect()
}

// rule: commands#quoting
#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_in_any_field_are_refused_or_shown_as_words_of_their_login() {
    let Some(site) = Site::start() else { return };
    let mut walk = Walk::start(&site).await;
    for operation in operations(&site).await {
        walk.sends(&operation, &TAILS).await;
    }
    let seen = judge_outputs(&site, &walk).await;
    let (taken, all) = (walk.sent.iter().filter(|sent| sent.is_taken).count(), walk.sent.len());
    assert!(
        all > 3_000 && taken > 100 && seen.len() > 50,
        "{all} sent, {taken} taken, {} seen",
        seen.len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_that_another_version_has_stored_are_shown_as_words_of_their_login() {
    let Some(site) = Site::start() else { return };
    let mut walk = Walk::start(&site).await;
    for operation in operations(&site).await {
        walk.sends(&operation, &[PLAIN]).await;
    }
    let seen = judge_outputs(&site, &walk).await;
    assert_eq!(lost(&walk, &seen), [""; 0], "taken, and seen nowhere");
    let hostile = everything();
    let end = format!("wZ{PLAIN}");
    let in_json = serde_json::to_string(&hostile).unwrap();
    let rewritten = site.rewrites(|text| {
        let is_json = text.starts_with(['{', '[', '"']);
        let tail = if is_json { in_json.trim_matches('"') } else { &hostile };
        text.replace(&end, &format!("wZ{tail}"))
    });
    let rewritten = rewritten.await;
    assert!(rewritten > 20, "{rewritten}");
    let seen = judge_outputs(&site, &walk).await;
    assert!(seen.len() > 20, "{}", seen.len());
}
