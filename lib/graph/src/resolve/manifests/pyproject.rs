//! `pyproject.toml`: the folders of its packages. Only the few keys that name them are read, line by line; anything else is
//! ignored.

/// The folders, relative to the file.
pub(crate) fn package_folders(text: &str) -> Vec<String> {
    let mut folders = Vec::new();
    let mut section = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            section = name.trim_matches(['[', ' ']).to_owned();
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let key = key.trim();
        let mut value = value.trim().to_owned();
        if value.starts_with('[') {
            // An array may continue over lines; at most a hundred are read.
            for more in lines.by_ref().take(if value.contains(']') { 0 } else { 100 }) {
                value.push_str(more);
                if more.contains(']') {
                    break;
                }
            }
        }
        let found = match (section.as_str(), key) {
            ("tool.setuptools.packages.find", "where") => quoted(&value),
            ("tool.setuptools.package-dir", "\"\"" | "''") => quoted(&value),
            ("tool.setuptools", "package-dir") => after(&value, "\"\""),
            ("tool.poetry", "packages") => after(&value, "from"),
            ("tool.pdm.build" | "tool.pdm", "package-dir") => quoted(&value),
            ("tool.maturin", "python-source") => quoted(&value),
            ("tool.uv.build-backend", "module-root") => quoted(&value),
            ("tool.hatch.build" | "tool.hatch.build.targets.wheel", "sources") => quoted(&value),
            ("tool.hatch.build" | "tool.hatch.build.targets.wheel", "packages") => quoted(&value)
                .into_iter()
                .map(|package| crate::resolve::paths::folder(package.trim_end_matches('/')).to_owned())
                .collect(),
            _ => Vec::new(),
        };
        folders.extend(found);
    }
    folders
}

/// The strings in a value.
fn quoted(value: &str) -> Vec<String> {
    let mut rest = value;
    let mut found = Vec::new();
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = if rest.as_bytes().get(start) == Some(&b'"') {
            '"'
        } else {
            '\''
        };
        let body = &rest[start + 1..];
        let Some(end) = body.find(quote) else { break };
        found.push(body[..end].to_owned());
        rest = &body[end + 1..];
    }
    found
}

/// The strings after `key =` in an inline table.
fn after(value: &str, key: &str) -> Vec<String> {
    value
        .split(key)
        .skip(1)
        .filter_map(|rest| rest.trim_start().strip_prefix('='))
        .filter_map(|rest| quoted(rest).into_iter().next())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_build_tool_says_it_in_its_own_way() {
        for (text, expected) in [
            (
                "[tool.setuptools.packages.find]\nwhere = [\n  \"lib\",\n  'more'\n]\n",
                vec!["lib", "more"],
            ),
            ("[tool.setuptools]\npackage-dir = {\"\" = \"code\"}", vec!["code"]),
            ("[tool.setuptools.package-dir]\n\"\" = \"code\"", vec!["code"]),
            (
                "[tool.poetry]\npackages = [{ include = \"a\", from = \"lib\" }]",
                vec!["lib"],
            ),
            (
                "[tool.hatch.build.targets.wheel]\npackages = [\"python/a\"]",
                vec!["python"],
            ),
            ("[tool.maturin]\npython-source = \"python\"", vec!["python"]),
            ("[project]\nname = \"x\"", vec![]),
            ("[tool.setuptools.packages.find]\nwhere = [\"a", vec![]),
        ] {
            assert_eq!(package_folders(text), expected, "{text}");
        }
    }
}
