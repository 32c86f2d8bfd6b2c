//! `go.mod` and `go.work`: lines of the form `directive value`, or a directive and its values in parentheses.

/// The content of a `go.mod` or `go.work`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GoManifest {
    /// `module path`.
    pub(crate) module: Option<String>,
    /// `use folder` of a workspace.
    pub(crate) uses: Vec<String>,
    /// `replace path => folder`, without replacements by modules.
    pub(crate) replaces: Vec<(String, String)>,
}

impl GoManifest {
    /// The number of values in it.
    pub(crate) fn value_count(&self) -> usize {
        1 + self.uses.len() + self.replaces.len()
    }

    /// Parses the text and ignores lines with other directives.
    pub(crate) fn parse(text: &str) -> Self {
        let mut manifest = GoManifest::default();
        let mut block: Option<String> = None;
        for line in text.lines() {
            let mut words = words(line);
            let directive = match &block {
                Some(directive) => directive.clone(),
                None if words.is_empty() => continue,
                None => words.remove(0),
            };
            match words.first().map(String::as_str) {
                Some("(") if block.is_none() => block = Some(directive),
                Some(")") => block = None,
                _ => manifest.add_directive(&directive, words),
            }
        }
        manifest
    }

    fn add_directive(&mut self, directive: &str, mut words: Vec<String>) {
        match directive {
            "module" if !words.is_empty() => self.module = Some(words.swap_remove(0)),
            "use" if !words.is_empty() => self.uses.push(words.swap_remove(0)),
            "replace" => {
                let arrow = words.iter().position(|word| word == "=>");
                let target = arrow.and_then(|at| words.get(at + 1)).cloned();
                if let Some(target) = target.filter(|target| is_folder(target)) {
                    self.replaces.push((words.swap_remove(0), target));
                }
            }
            _ => {}
        }
    }
}

/// Whether a replacement is a folder: it begins with `./` or `../`. Any other is a module.
fn is_folder(target: &str) -> bool {
    target.starts_with("./") || target.starts_with("../") || matches!(target, "." | "..")
}

/// The words of a line up to its comment, without quotes.
fn words(line: &str) -> Vec<String> {
    let line = line.split("//").next().unwrap_or_default();
    let line = line.replace('(', " ( ").replace(')', " ) ");
    let unquoted = |word: &str| word.trim_matches(['"', '`']).to_owned();
    line.split_whitespace().map(unquoted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_workspaces_and_replacements_are_read() {
        let text = "// c\nmodule \"example.com/a\" // d\n\ngo 1.21\nrequire (\n\tb v1\n)\nreplace (\n\
            \tc => ./c\n\td v1.2.3 => ../d // e\n\tf => g v1\n)\nreplace h => `./h`\nuse .\nuse (\n\t./x\n\t./y\n)\n";
        let manifest = GoManifest::parse(text);
        assert_eq!(manifest.module.as_deref(), Some("example.com/a"));
        assert_eq!(manifest.uses, [".", "./x", "./y"]);
        let replaces: Vec<_> = manifest
            .replaces
            .iter()
            .map(|(from, to)| (from.as_str(), to.as_str()))
            .collect();
        assert_eq!(replaces, [("c", "./c"), ("d", "../d"), ("h", "./h")]);
    }

    #[test]
    fn text_that_is_no_manifest_has_no_module_and_no_uses() {
        for text in [
            "",
            "(",
            ")",
            "module",
            "replace =>",
            "replace => ./a",
            "use (",
            "\0",
            "replace a => ",
        ] {
            let manifest = GoManifest::parse(text);
            assert_eq!((manifest.module, manifest.uses.len()), (None, 0), "{text}");
        }
    }
}
