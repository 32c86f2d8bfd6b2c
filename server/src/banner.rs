//! What `coord serve` prints when it starts.

use std::fmt::Write;
use std::net::SocketAddr;

use crate::git_source::Opened;

/// Where it is, what it serves, and three lines to try.
pub fn text(address: SocketAddr, store: &str, opened: &[Opened]) -> String {
    let base = format!("http://{address}");
    let mut text = format!("\nCoord listens on {base}\n\n");
    for repository in opened {
        // Writing to a String does not fail.
        let _ = writeln!(text, "  serving  {}  ({})", repository.repo, repository.path.display());
        let _ = writeln!(text, "  branch   {}", branch_line(repository));
    }
    let _ = writeln!(text, "  store    {store}\n");
    let Some(first) = opened.first() else { return text };
    let (Some(branch), Some(head)) = (&first.default_branch, &first.head) else {
        text.push_str("There is no commit yet: make the first one, and ask then.\n\n");
        return text;
    };
    let common = format!(
        r#""repo_url":"https://{}","branch":"{branch}","file_paths":["README.md"],"agent_head":"{}""#,
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
    let _ = writeln!(
        text,
        "Add -H 'X-Coord-User: bob' to ask as somebody else. Ctrl-C stops.\n"
    );
    text
}

fn branch_line(repository: &Opened) -> String {
    let branch = repository
        .default_branch
        .as_ref()
        .map_or("(none)", |branch| branch.as_str());
    let mut line = match &repository.head {
        Some(head) => format!("{branch} at {}", head.short()),
        None => format!("{branch}, no commit yet"),
    };
    if repository.detached {
        line.push_str(", HEAD is detached");
    }
    if repository.shallow {
        line.push_str(", a shallow clone: what is older than it cannot be told");
    }
    line
}
