//! The files of a patch in the form of `apply_patch`, in which Codex and others send all of their edits.

/// Beginnings of the lines that name a file. Lines of content begin with `+`, `-`, a space or `@@`.
const HEADERS: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// The files that `patch` writes, removes and moves, both names of a moved one, each once.
pub fn patched_files(patch: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in patch.lines() {
        let name = HEADERS.iter().find_map(|header| line.strip_prefix(header));
        let name = name.map(str::trim).filter(|name| !name.is_empty());
        if let Some(name) = name
            && !files.iter().any(|known| known == name)
        {
            files.push(name.to_owned());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch_is_named_once_and_content_names_none() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@ fn main\n-old\n+*** Add File: no.rs\n \
                     *** Delete File: no.rs\n*** Add File: new file.rs\n+x\n*** Delete File: /abs/c.rs\n*** Update File: src/a.rs\n\
                     *** End Patch\n";
        assert_eq!(
            patched_files(patch),
            ["src/a.rs", "src/b.rs", "new file.rs", "/abs/c.rs"]
        );
        assert!(patched_files("--- a/x\n+++ b/x\n").is_empty());
        assert!(patched_files("*** Add File:  \r\n").is_empty());
    }
}
