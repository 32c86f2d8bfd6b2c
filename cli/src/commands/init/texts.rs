//! Texts for agents: the rules of `coord mcp`, in the file of instructions and as a skill.

use std::path::Path;

use coord_mcp::{self as mcp, ToolHost};

use super::agents::{Agent, TargetFolders};
use super::block::{Block, Language};
use super::target::{Content, Target};
use super::whole_file::WholeFile;

/// Width of the text: with the sign of a diff it fits into a terminal.
const WIDTH: usize = 78;

/// The file of instructions that most agents read.
const SHARED_INSTRUCTIONS: &str = "AGENTS.md";

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

/// The files from which `agent` reads the rules.
pub fn targets(agent: &Agent, target_folders: &TargetFolders) -> Vec<Target> {
    let Some(files) = &agent.instruction_files else {
        return Vec::new();
    };
    let folder = match &target_folders.project {
        Some(root) => root.join(files.skills),
        None => (files.user_skills)(&target_folders.home),
    };
    let whole = WholeFile {
        text: skill(),
        other_form: None,
    };
    let mut targets = vec![Target::new(folder.join("coord/SKILL.md"), Content::Whole(whole))];
    if let Some(root) = &target_folders.project {
        let path = root.join(files.instructions);
        let is_shared =
            files.instructions == SHARED_INSTRUCTIONS || is_same_file(&path, &root.join(SHARED_INSTRUCTIONS));
        let text = match is_shared {
            true => format!("## {TITLE}\n\n{}", rules()),
            // The file refers to the skill, so that the repository has the text only once.
            false => format!("@{}/coord/SKILL.md\n", files.skills),
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

/// Whether both paths lead to the same file, as when one is a link to the other.
fn is_same_file(path: &Path, other: &Path) -> bool {
    path.canonicalize()
        .is_ok_and(|path| other.canonicalize().is_ok_and(|other| path == other))
}

fn rules() -> String {
    let rules = format!(
        "{}\n\n{WITHOUT_TOOLS}",
        mcp::rules(coord_tools::SETS, ToolHost::WorkingCopy)
    );
    let lines = rules.lines().map(|line| wrap(line) + "\n");
    lines.collect()
}

/// Wraps `line` at [`WIDTH`], and indents the further lines of a list item.
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
