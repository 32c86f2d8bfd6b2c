//! Texts for agents: the rules, in the file of instructions and as a skill. The rules themselves are those that `coord mcp` gives.

use std::path::Path;

use coord_mcp::{self as mcp, Offer};

use super::agents::{Agent, TargetFolders};
use super::block::{Block, Language};
use super::target::{Content, Target};
use super::whole_file::WholeFile;

/// Width of the text: with the mark of a diff it fits into a terminal.
const WIDTH: usize = 78;

/// The file of instructions that most agents read.
const SHARED: &str = "AGENTS.md";

const TITLE: &str = "Coord: work beside other agents";

const WITHOUT_TOOLS: &str = "\
Without the tools check_status and post_status, commands do the same:

- `coord check FILE...` before you plan an edit
- `coord claim FILE... -m MESSAGE` before you edit
- `coord release FILE...` after the push, with `--abandon` to discard work
- `coord status` to see who works on what";

const SKILL_HEAD: &str = "\
---
name: coord
description: Before you plan or make an edit here, and when one is refused because someone else holds the file.
---
";

/// The files that `agent` reads the rules from.
pub fn targets(agent: &Agent, places: &TargetFolders) -> Vec<Target> {
    let Some(reads) = &agent.reads else {
        return Vec::new();
    };
    let folder = match &places.project {
        Some(root) => root.join(reads.skills),
        None => (reads.user_skills)(&places.home),
    };
    let whole = WholeFile {
        text: skill(),
        other: None,
    };
    let mut targets = vec![Target::new(folder.join("coord/SKILL.md"), Content::Whole(whole))];
    if let Some(root) = &places.project {
        let path = root.join(reads.instructions);
        let text = match reads.instructions == SHARED || is_same(&path, &root.join(SHARED)) {
            true => format!("## {TITLE}\n\n{}", rules()),
            // It reads the same text from the skill, so that the repository has it once.
            false => format!("@{}/coord/SKILL.md\n", reads.skills),
        };
        let language = Language::Markdown;
        targets.push(Target::new(path, Content::Block(Block { text, language })));
    }
    targets
}

/// The rules as a skill.
pub fn skill() -> String {
    format!("{SKILL_HEAD}\n# {TITLE}\n\n{}", rules())
}

/// Whether `path` is a link to `other`.
fn is_same(path: &Path, other: &Path) -> bool {
    path.canonicalize()
        .is_ok_and(|path| other.canonicalize().is_ok_and(|other| path == other))
}

fn rules() -> String {
    let rules = format!(
        "{}\n\n{WITHOUT_TOOLS}",
        mcp::rules(coord_tools::SETS, Offer::WorkingCopy)
    );
    let lines = rules.lines().map(|line| wrap(line) + "\n");
    lines.collect()
}

/// `line` in lines of [`WIDTH`]; those of an item of a list are indented.
fn wrap(line: &str) -> String {
    let indent = match line.as_bytes().first() {
        Some(b'0'..=b'9') => 3,
        Some(b'-') => 2,
        _ => 0,
    };
    let mut text = String::new();
    let mut width = 0;
    for word in line.split(' ') {
        if width > 0 && width + 1 + word.chars().count() > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            width = indent;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += word.chars().count();
    }
    text
}
