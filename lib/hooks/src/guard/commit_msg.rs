//! The trailers of the commit that is being made: its intents, and a point of the ledger.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use coord_agent::git;
use coord_agent::ledger::newest;
use coord_agent::options::AgentArgs;
use coord_git::WorkingCopy;
use coord_intents::ledger::{Point, Trailers};
use coord_protocol::{Client, IntentView, IntentsResponse, IntentsView};

use super::pre_commit;

/// Largest message, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// Adds the trailers to the message in `file`, and warns of a commit of unrelated intents.
///
/// # Errors
/// When git or the server fails; the commit goes on without them.
pub(super) async fn add_trailers(
    working_copy: &WorkingCopy,
    args: &AgentArgs,
    client: &Client,
    file: &Path,
) -> anyhow::Result<()> {
    let message =
        coord_files::regular(file, MOST_BYTES)?.with_context(|| format!("{} cannot be read", file.display()))?;
    let message = String::from_utf8(message).with_context(|| format!("{} is not UTF-8", file.display()))?;
    // Git gives up a commit without a message, which trailers would be.
    let mark = comment_mark(working_copy, &message);
    if is_empty(&message, &mark) {
        return Ok(());
    }
    let files = pre_commit::changes(working_copy, args).await?.names.files;
    let files: Vec<String> = files.into_iter().collect();
    let repo_url = args.repo_url(working_copy);
    let known = client.intents_if_any(&repo_url, IntentsView::State).await?;
    let intents = intents_of(&known, &files);
    if intents.is_empty() {
        return Ok(());
    }
    if let Some(pair) = unrelated(&known.intents, &intents) {
        let _ = writeln!(
            std::io::stderr(),
            "coord guard commit-msg: {} and {} are unrelated intents; a commit for each is easier to trace back",
            pair.0,
            pair.1
        );
    }
    // Without the ledger, the intents are worth having.
    let point = newest(client, &repo_url)
        .await
        .ok()
        .and_then(|page| page.sealed.parse::<Point>().ok());
    let trailers = Trailers {
        intents,
        points: point.into_iter().filter(|point| point.seq > 0).collect(),
    };
    let mut arguments: Vec<String> = Vec::new();
    if mark != DEFAULT_MARK {
        // An older git knows one character alone.
        let key = match mark.chars().count() {
            1 => "core.commentChar",
            _ => "core.commentString",
        };
        arguments.extend(["-c".to_owned(), format!("{key}={mark}")]);
    }
    // A line of dashes is part of a message.
    arguments.extend(["interpret-trailers", "--in-place", "--no-divider"].map(str::to_owned));
    for line in trailers.to_string().lines() {
        // A commit that is made again has the newer point.
        let if_exists = if line.starts_with("Coord-Ledger") {
            "replace"
        } else {
            "addIfDifferent"
        };
        arguments.extend(["--if-exists", if_exists, "--trailer", line].map(str::to_owned));
    }
    let shown = file.to_str().context("the path of the message is not UTF-8")?;
    arguments.push(shown.to_owned());
    // Trailers may be made by programs that a repository's configuration names.
    git::output_outside(working_copy.root(), &arguments).await.map(drop)
}

/// The default comment mark.
const DEFAULT_MARK: &str = "#";

/// The marks that git chooses from where `core.commentChar` is `auto`.
const MARKS: &str = "#;@!$%^&|:";

/// Behind the mark: all that follows is cut off.
const SCISSORS: &str = " ------------------------ >8 ------------------------";

/// The comment mark of `message`.
fn comment_mark(working_copy: &WorkingCopy, message: &str) -> String {
    let set = ["core.commentString", "core.commentChar"].map(|key| working_copy.setting(key));
    match set.into_iter().flatten().next() {
        Some(mark) if mark == "auto" => chosen_mark(message),
        Some(mark) => mark,
        None => DEFAULT_MARK.to_owned(),
    }
}

/// The mark that git has chosen for `message`: its own comments are the last lines.
fn chosen_mark(message: &str) -> String {
    let last = message.lines().rfind(|line| !line.trim().is_empty());
    let mark = last
        .and_then(|line| line.chars().next())
        .filter(|mark| MARKS.contains(*mark));
    mark.map_or_else(|| DEFAULT_MARK.to_owned(), String::from)
}

/// Whether a message has nothing but comments, which begin with `mark`.
fn is_empty(message: &str, mark: &str) -> bool {
    let is_scissors = |line: &str| line.strip_prefix(mark) == Some(SCISSORS);
    let mut above_scissors = message.lines().take_while(|line| !is_scissors(line));
    above_scissors.all(|line| line.trim().is_empty() || line.starts_with(mark))
}

/// The intents that own `files`; where none does, the one that the caller works on.
fn intents_of(known: &IntentsResponse, files: &[String]) -> Vec<String> {
    let none = BTreeMap::new();
    let owners = known.owners.as_ref().unwrap_or(&none);
    let mut intents: Vec<String> = files
        .iter()
        .filter_map(|file| owners.get(file))
        .flatten()
        .cloned()
        .collect();
    if intents.is_empty() {
        intents.extend(known.selected.clone());
    }
    intents.sort();
    intents.dedup();
    intents
}

/// Two of `intents` of which neither supplements the other, and that were not let overlap.
fn unrelated<'a>(known: &[IntentView], intents: &'a [String]) -> Option<(&'a String, &'a String)> {
    let view = |id: &String| known.iter().find(|view| view.id == *id);
    let names = |one: &String, other: &String| {
        view(one).is_some_and(|view| view.supplements.as_ref() == Some(other) || view.may_overlap.contains(other))
    };
    let pairs = intents
        .iter()
        .enumerate()
        .flat_map(|(index, one)| intents[index + 1..].iter().map(move |other| (one, other)));
    let same_root = |one: &String, other: &String| {
        let root = |id: &String| view(id).and_then(|view| view.supplements.clone());
        root(one).is_some() && root(one) == root(other)
    };
    pairs
        .into_iter()
        .find(|(one, other)| !names(one, other) && !names(other, one) && !same_root(one, other))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known() -> IntentsResponse {
        let view = |id: &str, supplements: Option<&str>| {
            json!({
                "id": id, "name": id, "description": "", "status": "IN_PROGRESS", "constraints": [], "owned_scope": [],
                "acceptance_criteria": [], "supplements": supplements,
            })
        };
        serde_json::from_value(json!({
            "intents": [view("a", None), view("b", None), view("a2", Some("a")), view("a3", Some("a"))],
            "state": "ACTION", "selected": "b",
            "owners": { "src/a.ts": ["a"], "src/b.ts": ["b"], "src/a2.ts": ["a2"] },
        }))
        .unwrap()
    }

    fn of(files: &[&str]) -> Vec<String> {
        intents_of(
            &known(),
            &files.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_commit_belongs_to_the_owners_of_its_files_or_to_the_selected_intent() {
        assert_eq!(of(&["src/a.ts", "README.md", "src/a2.ts"]), ["a", "a2"]);
        assert_eq!(of(&["README.md"]), ["b"]);
    }

    #[test]
    fn two_intents_are_related_by_what_supplements_what() {
        let related = |ids: [&str; 2]| unrelated(&known().intents, &ids.map(str::to_owned)).is_none();
        assert!(related(["a", "a2"]) && related(["a2", "a"]) && related(["a2", "a3"]));
        assert!(!related(["a", "b"]) && !related(["a2", "b"]) && !related(["a", "unknown"]));
    }

    #[test]
    fn a_message_of_comments_is_none() {
        assert!(is_empty("\n# On branch main\n# ---\n", "#"));
        let cut = format!("\n;{SCISSORS}\ndiff --git a b\n");
        assert!(is_empty(&cut, ";") && !is_empty(&cut, "#"));
        assert!(!is_empty("Pool connections\n# On branch main\n", "#"));
        assert!(!is_empty(&format!("Cut at{SCISSORS}\n"), "#"));
        assert!(!is_empty(
            "#1 is mended\n; On branch main\n",
            &chosen_mark("#1 is mended\n; On branch main\n")
        ));
        assert_eq!(chosen_mark("Pool\n"), "#");
    }
}
