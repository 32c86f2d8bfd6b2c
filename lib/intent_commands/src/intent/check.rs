//! `coord intent check`: the files of a scope in the working copy, whether it is too broad, and its overlaps with active
//! intents.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::git;
use coord_agent::intents::{intent, status};
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::{BAD, FAINT, GOOD, print, print_json, styled};
use coord_agent::workplace::Workplace;
use coord_files::RootedPath;
use coord_intents::intent::Intent;
use coord_protocol::plain_text::shown_line;
use coord_protocol::{IntentView, IntentsView};
use coord_scopes::{IntentIgnore, Judge, Scope, StepBudget, Verdict};
use coord_settings::env_vars;
use serde::Serialize;

use super::from_file;

/// Files that a scope may cover, where the server does not say otherwise.
const MOST_FILES: usize = 100;

/// Most files that are listed in a terminal.
const MOST_LINES: usize = 20;

/// Options of `coord intent check`.
#[derive(Clone, Debug, Args)]
pub(super) struct CheckArgs {
    /// The intent
    #[arg(value_name = "ID", required_unless_present_any = ["scope", "from"])]
    id: Option<String>,
    /// A pattern instead of an intent's, from the root of the repository; may be repeated
    #[arg(long, value_name = "PATTERN", conflicts_with = "from")]
    scope: Vec<String>,
    /// A file with the intent, as YAML or JSON; - is standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// The most files that a scope may cover, as the server has it
    #[arg(long, value_name = "NUMBER", env = env_vars::COORD_INTENT_MAX_FILES, default_value_t = MOST_FILES)]
    most: usize,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

/// The files of a scope, and its problems.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Findings {
    /// The tracked files that it covers.
    covered: Vec<String>,
    /// The files that it would cover, if `.intentignore` did not have them, each with why.
    ignored: Vec<(String, String)>,
    /// The files that it would cover, if any intent could.
    reserved: Vec<String>,
    /// Why it is too broad.
    #[serde(skip_serializing_if = "Option::is_none")]
    too_broad: Option<String>,
    /// The active intents that it meets, each with where.
    overlaps: Vec<(String, String)>,
}

impl CheckArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let waiting = workplace.waiting();
        let response = workplace
            .connection
            .client
            .intents(&workplace.work.repo_url(), IntentsView::List)
            .await;
        drop(waiting);
        let known = match response {
            Ok(response) => response.intents,
            Err(error) => return workplace.failed(error),
        };
        let wanted = self.wanted(&known)?;
        let scope = Scope::parse(&wanted.owned_scope)?;
        let root = workplace.work.working_copy.root();
        let listed = git::output(root, ["ls-files", "-z", "--cached"]).await?;
        let files = git::paths(&listed);
        let findings = found(&wanted, &scope, &files, &intent_ignore(root), &known, self.most);
        match self.json {
            true => print_json(&findings)?,
            false => print(&text(&findings))?,
        }
        let is_refused = findings.too_broad.is_some() || !findings.overlaps.is_empty();
        Ok(if is_refused {
            ExitStatus::Refused
        } else {
            ExitStatus::Done
        }
        .into())
    }

    /// The intent that is checked.
    fn wanted(&self, known: &[IntentView]) -> anyhow::Result<Intent> {
        let stored = match &self.id {
            None => None,
            Some(id) => known.iter().find(|view| view.id == *id).map(intent),
        };
        if !self.scope.is_empty() {
            return Ok(Intent {
                owned_scope: self.scope.clone(),
                id: self.id.clone().unwrap_or_default(),
                ..stored.unwrap_or_default()
            });
        }
        match (&self.from, &self.id) {
            (Some(file), id) => {
                let mut intents = from_file::read(file)?;
                intents.retain(|intent| id.as_ref().is_none_or(|id| *id == intent.id || intent.id.is_empty()));
                ensure!(
                    intents.len() == 1,
                    "the file has {} such intents: name one, by its id",
                    intents.len()
                );
                intents.pop().context("the file has no intent")
            }
            (None, id) => stored.with_context(|| format!("there is no intent {}", id.as_deref().unwrap_or_default())),
        }
    }
}

/// The `.intentignore` of the working copy at `root`.
pub fn intent_ignore(root: &Path) -> IntentIgnore {
    match RootedPath::new(root, ".intentignore").read(IntentIgnore::MAX_BYTES as u64) {
        Ok(Some(content)) => IntentIgnore::parse(&content),
        Ok(None) => IntentIgnore::none(),
        Err(error) => IntentIgnore::unreadable(error.clause()),
    }
}

fn found(
    wanted: &Intent,
    scope: &Scope,
    files: &[String],
    ignore: &IntentIgnore,
    known: &[IntentView],
    most: usize,
) -> Findings {
    let mut findings = Findings::default();
    let mut judge = Judge::new(scope, [ignore]);
    for file in files {
        match judge.judge(file) {
            Verdict::Covered => findings.covered.push(file.clone()),
            Verdict::Outside => {}
            Verdict::Ignored(why) if scope.covers(file) => findings.ignored.push((file.clone(), why.to_string())),
            Verdict::Reserved(_) if scope.covers(file) => findings.reserved.push(file.clone()),
            Verdict::Ignored(_) | Verdict::Reserved(_) => {}
        }
    }
    findings.too_broad = scope.within_breadth(files, most).err().map(|error| error.to_string());
    let mut steps = StepBudget::new();
    let is_near = |view: &&IntentView| {
        let on_common_branch = match (&view.branch, &wanted.branch) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        let is_same_work = wanted.supplements.as_ref() == Some(&view.id)
            || (view.supplements.is_some() && view.supplements.as_ref() == Some(&wanted.id))
            || view.may_overlap.contains(&wanted.id);
        view.id != wanted.id && status(view.status).is_active() && on_common_branch && !is_same_work
    };
    for view in known.iter().filter(is_near) {
        // An intent whose scope cannot be read was never begun.
        let Ok(other) = Scope::parse(&view.owned_scope) else {
            continue;
        };
        if let Some(overlap) = scope.overlap(&other, &mut steps) {
            findings.overlaps.push((view.id.clone(), overlap.to_string()));
        }
    }
    findings
}

fn text(findings: &Findings) -> String {
    let mut text = match (&findings.too_broad, findings.overlaps.is_empty()) {
        (None, true) => {
            let count = findings.covered.len();
            let files = if count == 1 { "file" } else { "files" };
            format!("{}: it covers {count} tracked {files}\n", styled(GOOD, "OK"))
        }
        (Some(why), _) => format!("{}: {why}\n", styled(BAD, "TOO BROAD")),
        (None, false) => String::new(),
    };
    for (id, overlap) in &findings.overlaps {
        text.push_str(&format!("{} with {id}: {overlap}\n", styled(BAD, "OVERLAP")));
    }
    for file in findings.covered.iter().take(MOST_LINES) {
        text.push_str(&format!("  {}\n", shown_line(file)));
    }
    if findings.covered.len() > MOST_LINES {
        text.push_str(&format!("  and {} more\n", findings.covered.len() - MOST_LINES));
    }
    for (file, why) in findings.ignored.iter().take(MOST_LINES) {
        text.push_str(&styled(
            FAINT,
            &format!("  {}: not covered, by {}\n", shown_line(file), shown_line(why)),
        ));
    }
    for file in findings.reserved.iter().take(MOST_LINES) {
        text.push_str(&styled(
            FAINT,
            &format!("  {}: no intent covers it\n", shown_line(file)),
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_intent_check_lists_covered_ignored_too_broad_and_overlapping_scopes() {
        let view = |id: &str, status: &str, more: serde_json::Value| -> IntentView {
            let mut json = json!({
                "id": id, "name": id, "description": "", "status": status, "constraints": [],
                "owned_scope": ["src/db/**"], "acceptance_criteria": [],
            });
            json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value(json).unwrap()
        };
        let known = [
            view("mine", "PENDING", json!({})),
            view("active", "IN_PROGRESS", json!({})),
            view("blocked", "BLOCKED", json!({ "branch": "main" })),
            view("ended", "COMPLETED", json!({})),
            view("other-branch", "IN_PROGRESS", json!({ "branch": "next" })),
            view("allowed", "IN_PROGRESS", json!({ "may_overlap": ["mine"] })),
            view("widened", "IN_PROGRESS", json!({ "supplements": "mine" })),
        ];
        let wanted = Intent {
            id: "mine".to_owned(),
            branch: Some("main".to_owned()),
            owned_scope: vec!["src/**".to_owned()],
            ..Intent::default()
        };
        let scope = Scope::parse(&wanted.owned_scope).unwrap();
        let files = ["README.md", "src/db/a.ts", "src/gen/b.ts", "docs/a.md", "docs/b.md"].map(str::to_owned);
        let ignore = IntentIgnore::parse(b"gen/\n");
        let findings = found(&wanted, &scope, &files, &ignore, &known, 100);
        assert_eq!(findings.covered, ["src/db/a.ts"]);
        assert_eq!(findings.ignored[0].0, "src/gen/b.ts");
        assert_eq!(findings.too_broad, None);
        let met: Vec<&str> = findings.overlaps.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(met, ["active", "blocked"]);
        let broad = found(&wanted, &scope, &files[1..3], &ignore, &[], 100);
        assert!(
            broad.too_broad.is_some() && text(&broad).contains("TOO BROAD"),
            "{broad:?}"
        );
    }
}
