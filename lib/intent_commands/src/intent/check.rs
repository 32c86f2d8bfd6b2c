//! `coord intent check`: the files of a scope in the working copy, whether the scope is too broad, and its overlaps
//! with active intents.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::git;
use coord_agent::intents::intent;
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::{BAD, FAINT, GOOD, print_as, styled};
use coord_agent::workplace::Workplace;
use coord_files::RootedPath;
use coord_intents::intent::{Intent, have_common_branch};
use coord_protocol::plain_text::visible_line;
use coord_protocol::{IntentView, IntentsView};
use coord_scopes::{IntentIgnore, Judge, Scope, StepBudget, Verdict};
use coord_settings::env_vars;
use serde::Serialize;

use super::from_file;

/// The server's default for the number of files that a scope may cover.
const DEFAULT_MAX_FILES: usize = 100;

/// The number of files of one kind that a terminal lists.
const MAX_LINES: usize = 20;

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
    /// Maximum number of files that a scope may cover, as on the server
    #[arg(long, value_name = "NUMBER", env = env_vars::COORD_INTENT_MAX_FILES, default_value_t = DEFAULT_MAX_FILES)]
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
    /// The tracked files that the scope covers.
    covered: Vec<String>,
    /// The files that the scope covers but `.intentignore` excludes, each with the reason.
    ignored: Vec<(String, String)>,
    /// The files that the scope covers but no intent may own.
    reserved: Vec<String>,
    /// The reason why the scope is too broad.
    #[serde(skip_serializing_if = "Option::is_none")]
    too_broad: Option<String>,
    /// The active intents that overlap, each with the overlap.
    overlaps: Vec<(String, String)>,
}

impl CheckArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let repo_url = workplace.work.repo_url();
        let request = workplace.connection.client.intents(&repo_url, IntentsView::List);
        let views = workplace.ask(request).await?.intents;
        let subject = self.subject(&views)?;
        let scope = Scope::parse(&subject.owned_scope)?;
        let root = workplace.work.working_copy.root();
        let output = git::output(root, ["ls-files", "-z", "--cached"]).await?;
        let files = git::paths(&output);
        let findings = check_scope(&subject, &scope, &files, &read_intent_ignore(root), &views, self.most);
        print_as(self.json, &findings, render)?;
        let is_refused = findings.too_broad.is_some() || !findings.overlaps.is_empty();
        Ok(ExitStatus::refused_if(is_refused).into())
    }

    fn subject(&self, views: &[IntentView]) -> anyhow::Result<Intent> {
        let stored = match &self.id {
            None => None,
            Some(id) => views.iter().find(|view| view.id == *id).map(intent),
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
fn read_intent_ignore(root: &Path) -> IntentIgnore {
    match RootedPath::new(root, ".intentignore").read(IntentIgnore::MAX_BYTES as u64) {
        Ok(Some(content)) => IntentIgnore::parse(&content),
        Ok(None) => IntentIgnore::none(),
        Err(error) => IntentIgnore::unreadable(error.clause()),
    }
}

fn check_scope(
    subject: &Intent,
    scope: &Scope,
    files: &[String],
    ignore: &IntentIgnore,
    views: &[IntentView],
    max_files: usize,
) -> Findings {
    let mut findings = Findings::default();
    let mut judge = Judge::new(scope, [ignore]);
    for file in files {
        match judge.judge(file) {
            Verdict::Covered => findings.covered.push(file.clone()),
            Verdict::Ignored(reason) if scope.covers(file) => findings.ignored.push((file.clone(), reason.to_string())),
            Verdict::Reserved(_) if scope.covers(file) => findings.reserved.push(file.clone()),
            Verdict::Outside | Verdict::Ignored(_) | Verdict::Reserved(_) => {}
        }
    }
    findings.too_broad = scope
        .check_breadth(files, max_files)
        .err()
        .map(|error| error.to_string());
    let mut steps = StepBudget::new();
    let must_not_overlap = |view: &&IntentView| {
        let on_common_branch = have_common_branch(view.branch.as_deref(), subject.branch.as_deref());
        let is_allowed = subject.supplements.as_ref() == Some(&view.id)
            || (view.supplements.is_some() && view.supplements.as_ref() == Some(&subject.id))
            || view.may_overlap.contains(&subject.id);
        view.id != subject.id && view.status.is_active() && on_common_branch && !is_allowed
    };
    for view in views.iter().filter(must_not_overlap) {
        // An intent whose scope cannot be parsed was never begun.
        let Ok(other) = Scope::parse(&view.owned_scope) else {
            continue;
        };
        if let Some(overlap) = scope.overlap(&other, &mut steps) {
            findings.overlaps.push((view.id.clone(), overlap.to_string()));
        }
    }
    findings
}

fn render(findings: &Findings) -> String {
    let mut text = match (&findings.too_broad, findings.overlaps.is_empty()) {
        (None, true) => {
            let count = findings.covered.len();
            let files = if count == 1 { "file" } else { "files" };
            format!("{}: it covers {count} tracked {files}\n", styled(GOOD, "OK"))
        }
        (Some(reason), _) => format!("{}: {reason}\n", styled(BAD, "TOO BROAD")),
        (None, false) => String::new(),
    };
    for (id, overlap) in &findings.overlaps {
        text.push_str(&format!("{} with {id}: {overlap}\n", styled(BAD, "OVERLAP")));
    }
    for file in findings.covered.iter().take(MAX_LINES) {
        text.push_str(&format!("  {}\n", visible_line(file)));
    }
    if findings.covered.len() > MAX_LINES {
        text.push_str(&format!("  and {} more\n", findings.covered.len() - MAX_LINES));
    }
    for (file, reason) in findings.ignored.iter().take(MAX_LINES) {
        text.push_str(&styled(
            FAINT,
            &format!("  {}: not covered, by {}\n", visible_line(file), visible_line(reason)),
        ));
    }
    for file in findings.reserved.iter().take(MAX_LINES) {
        text.push_str(&styled(
            FAINT,
            &format!("  {}: no intent covers it\n", visible_line(file)),
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
        let views = [
            view("mine", "PENDING", json!({})),
            view("active", "IN_PROGRESS", json!({})),
            view("blocked", "BLOCKED", json!({ "branch": "main" })),
            view("ended", "COMPLETED", json!({})),
            view("other-branch", "IN_PROGRESS", json!({ "branch": "next" })),
            view("allowed", "IN_PROGRESS", json!({ "may_overlap": ["mine"] })),
            view("widened", "IN_PROGRESS", json!({ "supplements": "mine" })),
        ];
        let subject = Intent {
            id: "mine".to_owned(),
            branch: Some("main".to_owned()),
            owned_scope: vec!["src/**".to_owned()],
            ..Intent::default()
        };
        let scope = Scope::parse(&subject.owned_scope).unwrap();
        let files = ["README.md", "src/db/a.ts", "src/gen/b.ts", "docs/a.md", "docs/b.md"].map(str::to_owned);
        let ignore = IntentIgnore::parse(b"gen/\n");
        let findings = check_scope(&subject, &scope, &files, &ignore, &views, 100);
        assert_eq!(findings.covered, ["src/db/a.ts"]);
        assert_eq!(findings.ignored[0].0, "src/gen/b.ts");
        assert_eq!(findings.too_broad, None);
        let overlapping: Vec<&str> = findings.overlaps.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(overlapping, ["active", "blocked"]);
        let broad = check_scope(&subject, &scope, &files[1..3], &ignore, &[], 100);
        assert!(
            broad.too_broad.is_some() && render(&broad).contains("TOO BROAD"),
            "{broad:?}"
        );
    }
}
