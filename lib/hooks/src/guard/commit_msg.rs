//! Adds trailers to the commit that is being made: its intents, and a point of the ledger.

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

/// Maximum size of a message, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Adds the trailers to the message in `file`, and warns if a commit has unrelated intents.
///
/// # Errors
/// When git or the server fails; the commit proceeds without trailers.
pub(super) async fn add_trailers(
    working_copy: &WorkingCopy,
    args: &AgentArgs,
    client: &Client,
    file: &Path,
) -> anyhow::Result<()> {
    let message =
        coord_files::regular(file, MAX_BYTES)?.with_context(|| format!("{} cannot be read", file.display()))?;
    let message = String::from_utf8(message).with_context(|| format!("{} is not UTF-8", file.display()))?;
    // Git aborts a commit without a message, but trailers would count as one.
    let mark = comment_mark(working_copy, &message);
    if is_empty(&message, &mark) {
        return Ok(());
    }
    let files = pre_commit::changes(working_copy, args).await?.names.files;
    let files: Vec<String> = files.into_iter().collect();
    let repo_url = args.repo_url(working_copy);
    let response = client.intents_if_any(&repo_url, IntentsView::State).await?;
    let intents = intents_of(&response, &files);
    if intents.is_empty() {
        return Ok(());
    }
    if let Some((one, other)) = find_unrelated(&response.intents, &intents) {
        let _ = writeln!(
            std::io::stderr(),
            "coord guard commit-msg: {one} and {other} are unrelated intents; a commit for each is easier to trace back"
        );
    }
    // Trailers with the intents alone are useful too.
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
        // Older versions of git support only a single character.
        let key = match mark.chars().count() {
            1 => "core.commentChar",
            _ => "core.commentString",
        };
        arguments.extend(["-c".to_owned(), format!("{key}={mark}")]);
    }
    // A line of dashes is part of a message.
    arguments.extend(["interpret-trailers", "--in-place", "--no-divider"].map(str::to_owned));
    for line in trailers.to_string().lines() {
        // An amended commit gets the newer point.
        let if_exists = if line.starts_with("Coord-Ledger") {
            "replace"
        } else {
            "addIfDifferent"
        };
        arguments.extend(["--if-exists", if_exists, "--trailer", line].map(str::to_owned));
    }
    let path = file.to_str().context("the path of the message is not UTF-8")?;
    arguments.push(path.to_owned());
    // Outside of the repository, because its configuration can name programs that create trailers.
    let outside = Some(("GIT_DIR", Path::new("/dev/null")));
    git::output_with(working_copy.root(), &arguments, outside)
        .await
        .map(drop)
}

const DEFAULT_MARK: &str = "#";

/// The marks that git chooses from if `core.commentChar` is `auto`.
const MARKS: &str = "#;@!$%^&|:";

/// The text of a scissors line after the mark. Git removes everything below that line.
const SCISSORS: &str = " ------------------------ >8 ------------------------";

fn comment_mark(working_copy: &WorkingCopy, message: &str) -> String {
    let settings = ["core.commentString", "core.commentChar"].map(|key| working_copy.setting(key));
    match settings.into_iter().flatten().next() {
        Some(mark) if mark == "auto" => detect_mark(message),
        Some(mark) => mark,
        None => DEFAULT_MARK.to_owned(),
    }
}

/// The mark that git has chosen for `message`. The last lines are comments of git.
fn detect_mark(message: &str) -> String {
    let last = message.lines().rfind(|line| !line.trim().is_empty());
    let mark = last
        .and_then(|line| line.chars().next())
        .filter(|mark| MARKS.contains(*mark));
    mark.map_or_else(|| DEFAULT_MARK.to_owned(), String::from)
}

/// Whether a message has only comments, which begin with `mark`.
fn is_empty(message: &str, mark: &str) -> bool {
    let is_scissors = |line: &str| line.strip_prefix(mark) == Some(SCISSORS);
    let mut above_scissors = message.lines().take_while(|line| !is_scissors(line));
    above_scissors.all(|line| line.trim().is_empty() || line.starts_with(mark))
}

/// The intents that own `files`. If none does, the intent that the caller has selected.
fn intents_of(response: &IntentsResponse, files: &[String]) -> Vec<String> {
    let mut intents: Vec<String> = files
        .iter()
        .filter_map(|file| response.owners.as_ref()?.get(file))
        .flatten()
        .cloned()
        .collect();
    if intents.is_empty() {
        intents.extend(response.selected.clone());
    }
    intents.sort();
    intents.dedup();
    intents
}

/// Two of `intents` that are unrelated: neither supplements the other, neither may overlap the other, and they do not
/// supplement the same intent.
fn find_unrelated<'a>(views: &[IntentView], intents: &'a [String]) -> Option<(&'a String, &'a String)> {
    let view = |id: &String| views.iter().find(|view| view.id == *id);
    let refers_to = |one: &String, other: &String| {
        view(one).is_some_and(|view| view.supplements.as_ref() == Some(other) || view.may_overlap.contains(other))
    };
    let have_same_root = |one: &String, other: &String| {
        let root = |id: &String| view(id).and_then(|view| view.supplements.clone());
        root(one).is_some() && root(one) == root(other)
    };
    let mut pairs = intents
        .iter()
        .enumerate()
        .flat_map(|(index, one)| intents[index + 1..].iter().map(move |other| (one, other)));
    pairs.find(|(one, other)| !refers_to(one, other) && !refers_to(other, one) && !have_same_root(one, other))
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
    fn intents_are_related_if_one_supplements_the_other_or_both_the_same() {
        let are_related = |ids: [&str; 2]| find_unrelated(&known().intents, &ids.map(str::to_owned)).is_none();
        assert!(are_related(["a", "a2"]) && are_related(["a2", "a"]) && are_related(["a2", "a3"]));
        assert!(!are_related(["a", "b"]) && !are_related(["a2", "b"]) && !are_related(["a", "unknown"]));
    }

    #[test]
    fn a_message_of_comments_counts_as_empty() {
        assert!(is_empty("\n# On branch main\n# ---\n", "#"));
        let cut = format!("\n;{SCISSORS}\ndiff --git a b\n");
        assert!(is_empty(&cut, ";") && !is_empty(&cut, "#"));
        assert!(!is_empty("Pool connections\n# On branch main\n", "#"));
        assert!(!is_empty(&format!("Cut at{SCISSORS}\n"), "#"));
        assert!(!is_empty(
            "#1 is mended\n; On branch main\n",
            &detect_mark("#1 is mended\n; On branch main\n")
        ));
        assert_eq!(detect_mark("Pool\n"), "#");
    }
}
