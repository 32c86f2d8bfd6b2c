//! Dependencies on folders and packages of the repository, as npm, yarn, pnpm, bun and Deno write them.

use crate::resolve::manifests::json::Json;

/// The meaning of a dependency that is in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LocalTarget {
    /// A folder, relative to that of the manifest.
    Folder(String),
    /// The package of this name in the workspace.
    Member(String),
}

/// Names of dependencies, and their meaning in the repository.
pub(crate) type LocalDependencies = Vec<(String, LocalTarget)>;

impl LocalTarget {
    /// The meaning of the dependency `name`, whose version is `version`; `None` where that is a version of a registry.
    pub(crate) fn parse(name: &str, version: &str) -> Option<Self> {
        let folder = ["file:", "link:", "portal:"]
            .iter()
            .find_map(|scheme| version.strip_prefix(scheme));
        if let Some(folder) = folder {
            return Some(LocalTarget::Folder(folder.to_owned()));
        }
        let workspace = version.strip_prefix("workspace:")?;
        if workspace.starts_with('.') {
            return Some(LocalTarget::Folder(workspace.to_owned()));
        }
        let member = without_version(workspace).filter(|name| name.len() < workspace.len());
        Some(LocalTarget::Member(member.unwrap_or(name).to_owned()))
    }
}

/// The package name of a bare specifier, and the rest without the slash.
pub(crate) fn split_package_name(specifier: &str) -> Option<(&str, &str)> {
    let scope_end = if specifier.starts_with('@') {
        specifier.find('/')? + 1
    } else {
        0
    };
    let end = specifier[scope_end..]
        .find('/')
        .map_or(specifier.len(), |slash| scope_end + slash);
    let name = &specifier[..end];
    let rest = specifier.get(end + 1..).unwrap_or("");
    (!name.is_empty() && end > scope_end).then_some((name, rest))
}

/// The text before the `@` of a version, where that is not the `@` of a scope. `None` where nothing is before it.
pub(crate) fn without_version(text: &str) -> Option<&str> {
    let at = text.char_indices().skip(1).find(|(_, character)| *character == '@');
    let name = at.map_or(text, |(at, _)| &text[..at]);
    (!name.is_empty()).then_some(name)
}

/// The dependencies among `fields` (name to version) that are in the repository.
pub(crate) fn local_dependencies(fields: &[(String, Json)]) -> impl Iterator<Item = (String, LocalTarget)> {
    fields
        .iter()
        .filter_map(|(name, version)| Some((name.clone(), LocalTarget::parse(name, version.text()?)?)))
}

/// The replacement that an entry of `overrides` or `resolutions` makes in the whole workspace. `None` if it applies
/// only below a certain package (`a>b`, `a/b`).
pub(crate) fn replacement(key: &str, version: &str) -> Option<(String, LocalTarget)> {
    let key = key.strip_prefix("**/").unwrap_or(key);
    let name = without_version(key)?;
    let is_whole = split_package_name(name)?.1.is_empty() && !name.contains('>') && !is_below_another(key);
    is_whole.then(|| Some((name.to_owned(), LocalTarget::parse(name, version)?)))?
}

/// Whether a `>` of `key` separates two packages. One of a range follows a space, a bar or the `@` of the version.
fn is_below_another(key: &str) -> bool {
    let bytes = key.as_bytes();
    memchr::memchr_iter(b'>', bytes).any(|at| at > 0 && !matches!(bytes[at - 1], b' ' | b'|' | b'@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_is_a_folder_a_package_of_the_workspace_or_neither() {
        let folder = |text: &str| Some(LocalTarget::Folder(text.to_owned()));
        let member = |text: &str| Some(LocalTarget::Member(text.to_owned()));
        for (version, expected) in [
            ("file:../x", folder("../x")),
            ("link:.", folder(".")),
            ("portal:./x", folder("./x")),
            ("workspace:../x", folder("../x")),
            ("workspace:*", member("n")),
            ("workspace:", member("n")),
            ("workspace:^1.2.3", member("n")),
            ("workspace:x@*", member("x")),
            ("workspace:@s/x@^1", member("@s/x")),
            ("^1.0.0", None),
            ("npm:x@1", None),
            ("catalog:", None),
            ("", None),
        ] {
            assert_eq!(LocalTarget::parse("n", version), expected, "{version}");
        }
    }

    #[test]
    fn an_override_counts_where_it_is_for_every_package() {
        for (key, expected) in [
            ("x", Some("x")),
            ("@s/x", Some("@s/x")),
            ("x@^1", Some("x")),
            ("x@>1 || >=3", Some("x")),
            ("@s/x@npm:1", Some("@s/x")),
            ("**/x", Some("x")),
            ("a>x", None),
            ("a@1>x", None),
            ("a/x", None),
            ("@s/a/x", None),
            ("", None),
            ("@", None),
        ] {
            let found = replacement(key, "link:./y").map(|(name, _)| name);
            assert_eq!(found.as_deref(), expected, "{key}");
        }
        assert_eq!(replacement("x", "1.0.0"), None);
    }
}
