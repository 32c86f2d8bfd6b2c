//! A git repository with any number of files, each of which imports two others.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::client::Subject;

/// The number of the requested file: it has five neighbors in every measured repository.
pub const FILE: usize = 40;

/// The path of file `number`.
pub fn file(number: usize) -> String {
    format!("src/{}/f{number}.js", number / 1000)
}

/// Creates a repository with `files` files at `folder`. File N imports N - 1 and N / 2.
pub fn make(folder: &Path, files: usize) -> Result<Subject> {
    std::fs::create_dir_all(folder)?;
    let repo_url = format!("https://github.com/coord-bench/files-{files}");
    git(folder, &["-c", "init.defaultBranch=main", "init", "--quiet"])?;
    git(folder, &["remote", "add", "origin", &repo_url])?;
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .spawn()
        .context("git fast-import")?;
    {
        let mut input = BufWriter::new(import.stdin.take().context("a pipe")?);
        writeln!(
            input,
            "commit refs/heads/main\ncommitter Ada <ada@example.com> 1700000000 +0000\ndata 3\nAll"
        )?;
        for number in 0..files {
            let mut text = format!("export const f{number} = {number};\n");
            for imported in [number.checked_sub(1), Some(number / 2)].into_iter().flatten() {
                if imported != number {
                    text += &format!("import \"../{}/f{imported}.js\";\n", imported / 1000);
                }
            }
            writeln!(input, "M 100644 inline {}\ndata {}\n{text}", file(number), text.len())?;
        }
    }
    ensure!(import.wait()?.success(), "git fast-import failed");
    let head = git(folder, &["rev-parse", "main"])?;
    Ok(Subject { repo_url, head })
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .output()
        .context("git is needed")?;
    ensure!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
