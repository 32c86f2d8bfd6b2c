//! The text that `coord serve` prints when it starts.

use std::fmt::Write;
use std::net::SocketAddr;

use coord_agent::rivals::Rival;
use coord_domain::{Branch, CommitSha, RepoId};
use coord_sources::Tip;

use coord_git::OpenedRepository;

/// A served repository, as it was at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRepository {
    pub repo: RepoId,
    /// A folder, or the address of an API.
    pub location: String,
    /// The branch to show first.
    pub branch: Option<Branch>,
    /// The commit that is checked out, or else the head of the branch.
    pub head: Option<CommitSha>,
    /// The head of the branch, and the reference that it was read from.
    pub tip: Option<Tip>,
    /// Notes about the repository.
    pub notes: Vec<String>,
}

impl From<&OpenedRepository> for ServedRepository {
    fn from(opened: &OpenedRepository) -> Self {
        let mut notes = Vec::new();
        if let Some(branch) = &opened.headless {
            let subject = match &opened.default_branch {
                Some(default) if default == branch => String::new(),
                _ => format!("{branch} is checked out, "),
            };
            let reason = opened.hint.as_deref().unwrap_or("it was not found");
            notes.push(format!("{subject}which has no head: {reason}"));
        }
        if opened.detached {
            notes.push("HEAD is detached".to_owned());
        }
        if opened.shallow {
            notes.push("a shallow clone: older commits are not known".to_owned());
        }
        ServedRepository {
            repo: opened.repo.clone(),
            location: opened.path.display().to_string(),
            branch: opened.default_branch.clone(),
            head: opened.head.clone(),
            tip: opened.tip.clone(),
            notes,
        }
    }
}

/// The address, the repositories, three commands to try, and the demo.
pub fn render(address: SocketAddr, store: &str, served: &[ServedRepository], rivals: &[Rival]) -> String {
    let base = format!("http://{address}");
    let mut text = format!("\nCoord listens on {base}\n\n");
    for repository in served {
        // Writing to a String never fails.
        let _ = writeln!(text, "  serving  {}  ({})", repository.repo, repository.location);
        let _ = writeln!(text, "  branch   {}", branch_line(repository));
    }
    let _ = writeln!(text, "  store    {store}\n");
    for rival in rivals {
        let _ = writeln!(text, "Warning: {}. To fix it:\n\n{}\n", rival.sentence, rival.fix);
    }
    let Some(first) = served.first() else { return text };
    let (Some(branch), Some(head)) = (&first.branch, &first.head) else {
        text.push_str("There is no commit yet: make the first one before you send requests.\n\n");
        return text;
    };
    let common = format!(
        r#""repo_url":"https://{}","branch":"{branch}","file_paths":["README.md"],"agent_head":"{}","agent_id":"one""#,
        first.repo,
        head.short()
    );
    let post = |route: &str, body: &str| {
        format!("curl -s {base}/api/{route} -H 'Content-Type: application/json' -d '{{{body}}}'")
    };
    let _ = writeln!(
        text,
        "Watch it: {base}/?repo_url=https://{}&branch={branch}\n",
        first.repo
    );
    let _ = writeln!(text, "Try:\n");
    let _ = writeln!(text, "{}\n", post("check_status", &common));
    let claim = format!(r#"{common},"status":"WRITING","message":"Explaining how to install it on a fresh machine""#);
    let _ = writeln!(text, "{}\n", post("post_status", &claim));
    let _ = writeln!(
        text,
        "curl -s '{base}/api/graph?repo_url=https://{}&branch={branch}'\n",
        first.repo
    );
    let _ = writeln!(text, "Add -H 'X-Coord-User: bob' to send requests as another user.\n");
    let _ = writeln!(
        text,
        "To see the page with agents at work, run `{}`. Ctrl-C stops the server.\n",
        demo_command()
    );
    text
}

/// The command of the demo: by cargo, if cargo runs this program.
fn demo_command() -> &'static str {
    match std::env::var_os("CARGO") {
        Some(_) => "cargo run demo",
        None => "coord demo",
    }
}

fn branch_line(repository: &ServedRepository) -> String {
    let branch = repository.branch.as_ref().map_or("(none)", |branch| branch.as_str());
    let mut line = match (&repository.tip, &repository.head) {
        (Some(tip), _) => format!("{branch} at {} ({})", tip.commit.short(), tip.reference),
        // A note says why the branch has no head.
        (None, Some(_)) => branch.to_owned(),
        (None, None) => format!("{branch}, no commit yet"),
    };
    if let (Some(tip), Some(head)) = (&repository.tip, &repository.head)
        && tip.commit != *head
    {
        let _ = write!(line, ", {} is checked out", head.short());
    }
    for note in &repository.notes {
        line.push_str(", ");
        line.push_str(note);
    }
    line
}
