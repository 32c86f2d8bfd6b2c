//! `pnpm-workspace.yaml`: the globs of a workspace's folders.

/// `packages` in the text of a `pnpm-workspace.yaml`.
pub(crate) fn pnpm_packages(text: &str) -> Vec<String> {
    let mut globs = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let content = without_yaml_comment(line).trim_end();
        if let Some(rest) = content.strip_prefix("packages:") {
            inside = true;
            let flow = rest.trim().trim_start_matches('[').trim_end_matches(']');
            globs.extend(flow.split(',').filter_map(yaml_scalar));
        } else if inside {
            match content.trim_start().strip_prefix('-') {
                Some(item) => globs.extend(yaml_scalar(item)),
                None if content.is_empty() => {}
                None if content.starts_with([' ', '\t']) => {
                    globs.extend(
                        content
                            .trim()
                            .trim_end_matches([',', ']'])
                            .split(',')
                            .filter_map(yaml_scalar),
                    );
                }
                None => inside = false,
            }
        }
    }
    globs
}

fn without_yaml_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.find(" #").map_or(line, |at| &line[..at])
}

fn yaml_scalar(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['"', '\'', '[', ']']);
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pnpm_workspaces_are_read_in_every_way_they_are_written() {
        let text = "# all\npackages:\n  # own\n  - 'packages/*'\n  - \"apps/**\" # all apps\n\n  - '!**/test/**'\ncatalog:\n  - no\n";
        assert_eq!(pnpm_packages(text), ["packages/*", "apps/**", "!**/test/**"]);
        assert_eq!(pnpm_packages("packages: ['a', \"b/*\"]"), ["a", "b/*"]);
        assert_eq!(pnpm_packages("packages:\n- a\n- b\nx: 1"), ["a", "b"]);
    }
}
