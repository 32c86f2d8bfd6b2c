//! `setup.py`, and the `build.py` of PyBuilder: the literal arguments of a few calls. Nothing runs the script.

use coord_scan::Findings;
use coord_scan::python::Scanner;
use coord_scan::python::bytes::word_end;
use coord_scan::python::trivia::line_end;

use super::PythonManifest;

/// Properties of PyBuilder that name source roots, and their default values.
const PYBUILDER_ROOTS: [(&str, &str); 3] = [
    ("dir_source_main_python", "src/main/python"),
    ("dir_source_unittest_python", "src/unittest/python"),
    ("dir_source_integrationtest_python", "src/integrationtest/python"),
];

/// Most tokens of a script, and of one call or dictionary in it. Later ones are not read.
const MAX_TOKENS: usize = 1 << 18;
const MAX_ARGUMENT_TOKENS: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'t> {
    Name(&'t str),
    /// A string without escapes or fields.
    Text(&'t str),
    Punct(u8),
    Other,
}

impl PythonManifest {
    /// Reads `setup.py`.
    pub(crate) fn of_setup(text: &str) -> Self {
        let tokens = tokens(text);
        let mut manifest = PythonManifest::default();
        let mut has_packages = false;
        let mut folders = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let next = |ahead: usize| tokens.get(at + ahead).copied();
            match (*token, next(1)) {
                (Token::Name("setup"), Some(Token::Punct(b'('))) => manifest.is_project = true,
                (Token::Name("find_packages" | "find_namespace_packages"), Some(Token::Punct(b'('))) => {
                    match (next(2), next(3), next(4)) {
                        (Some(Token::Text(folder)), ..) => folders.push(folder.to_owned()),
                        (Some(Token::Punct(b')')), ..) => has_packages = true,
                        // Another argument comes first: the folder is the default, unless `where` names one.
                        (Some(Token::Name(_)), Some(Token::Punct(b'=')), _) => {
                            match where_argument(&tokens[at + 2..]) {
                                None => has_packages = true,
                                Some(Token::Text(folder)) => folders.push(folder.to_owned()),
                                Some(_) => {}
                            }
                        }
                        _ => {}
                    }
                }
                (Token::Name("packages" | "py_modules"), Some(Token::Punct(b'='))) => {
                    has_packages |= next(2) == Some(Token::Punct(b'[')) && matches!(next(3), Some(Token::Text(_)));
                }
                (Token::Name("package_dir"), Some(Token::Punct(b'=')))
                | (Token::Text("package_dir"), Some(Token::Punct(b':')))
                    if next(2) == Some(Token::Punct(b'{')) =>
                {
                    for (name, path) in pairs(&tokens[at + 3..]) {
                        manifest.add_package(name, path);
                    }
                }
                _ => {}
            }
        }
        manifest.add_setuptools_sources(folders, has_packages);
        manifest
    }

    /// Reads `build.py`. It belongs to PyBuilder if it uses one of PyBuilder's plugins.
    pub(crate) fn of_build(text: &str) -> Self {
        let tokens = tokens(text);
        let calls = |name: &'static str| {
            let is_call = move |pair: &[Token<'_>]| pair == [Token::Name(name), Token::Punct(b'(')];
            let starts = tokens.windows(2).enumerate().filter(move |(_, pair)| is_call(pair));
            starts.map(|(at, _)| &tokens[at + 2..])
        };
        let mut manifest = PythonManifest::default();
        if calls("use_plugin").next().is_none() {
            return manifest;
        }
        for (property, default) in PYBUILDER_ROOTS {
            let mut is_set = false;
            for call in calls("set_property") {
                if let [Token::Text(name), Token::Punct(b','), value, ..] = call
                    && *name == property
                {
                    is_set = true;
                    if let Token::Text(folder) = value {
                        manifest.sources.push((*folder).to_owned());
                    }
                }
            }
            if !is_set {
                manifest.sources.push(default.to_owned());
            }
        }
        manifest
    }
}

/// The value of `where` among the arguments of a call. `tokens` begins with the first argument.
fn where_argument<'t>(tokens: &[Token<'t>]) -> Option<Token<'t>> {
    let mut depth = 1_usize;
    for (at, token) in tokens.iter().take(MAX_ARGUMENT_TOKENS).enumerate() {
        match token {
            Token::Punct(b'(' | b'[' | b'{') => depth += 1,
            Token::Punct(b')' | b']' | b'}') => depth -= 1,
            Token::Name("where") if depth == 1 && tokens.get(at + 1) == Some(&Token::Punct(b'=')) => {
                return Some(tokens.get(at + 2).copied().unwrap_or(Token::Other));
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    None
}

/// The pairs of strings in a dictionary. `tokens` begins with the first pair.
fn pairs<'t>(tokens: &[Token<'t>]) -> Vec<(&'t str, &'t str)> {
    let end = tokens
        .iter()
        .take(MAX_ARGUMENT_TOKENS)
        .position(|token| *token == Token::Punct(b'}'));
    let inside = &tokens[..end.unwrap_or(0)];
    let items = inside.split(|token| *token == Token::Punct(b','));
    let pair = |item: &[Token<'t>]| match item {
        [Token::Text(name), Token::Punct(b':'), Token::Text(path)] => Some((*name, *path)),
        _ => None,
    };
    items.filter_map(pair).collect()
}

/// The tokens of a script, without whitespace and comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut findings = Findings::default();
    let mut scanner = Scanner::new(bytes, &mut findings);
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at)
        && tokens.len() < MAX_TOKENS
    {
        let start = at;
        match byte {
            b'#' => at = line_end(bytes, at),
            b'"' | b'\'' => {
                at = scanner.string_end(start).max(start + 1);
                tokens.push(literal(text.get(start..at).unwrap_or_default()));
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => {
                at = word_end(bytes, start + 1);
                let word = text.get(start..at).unwrap_or_default();
                if word.len() <= 2 && matches!(bytes.get(at), Some(b'"' | b'\'')) {
                    let quote = at;
                    at = scanner.string_end(start).max(at + 1);
                    let is_plain = matches!(word, "r" | "R" | "u" | "U");
                    let body = text.get(quote..at).unwrap_or_default();
                    tokens.push(if is_plain { literal(body) } else { Token::Other });
                } else {
                    tokens.push(Token::Name(word));
                }
            }
            byte => {
                at += 1;
                if !byte.is_ascii_whitespace() && byte != b'\\' {
                    tokens.push(Token::Punct(byte));
                }
            }
        }
    }
    tokens
}

/// The token of a string with its quotes.
fn literal(quoted: &str) -> Token<'_> {
    let quote = quoted.get(..1).unwrap_or_default();
    let triple = quote.repeat(3);
    let quote = if quoted.len() >= 6 && quoted.starts_with(&triple) {
        &triple
    } else {
        quote
    };
    let inside = quoted.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    match inside.filter(|inside| !inside.contains(['\\', '\n'])) {
        Some(inside) => Token::Text(inside),
        None => Token::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setup_py_names_folders_where_it_is_literal() {
        for (text, expected) in [
            ("setup(packages=find_packages('lib'))", &["lib"][..]),
            (
                "setup(packages=setuptools.find_packages(where=\"lib\", exclude=[]))",
                &["lib"],
            ),
            (
                "setup(packages=find_namespace_packages(include=['a', 'b'], where='lib'))",
                &["lib"],
            ),
            ("setup(packages=find_packages())", &["."]),
            ("setup(packages=find_packages(exclude=('where', 'tests')))", &["."]),
            ("setup(package_dir={'': 'lib'}, packages=find_packages())", &["lib"]),
            (
                "setup(\n  package_dir = { # x\n '' : r'lib', },\n packages=['a'])",
                &["lib"],
            ),
            ("kwargs = {'package_dir': {'': 'lib'}}\nsetup(**kwargs)", &["lib"]),
            ("setup(packages=['a', 'a.b'])", &["."]),
            ("setup(py_modules=[\"a\"])", &["."]),
            ("setup(packages=find_packages(where=HERE))", &[]),
            ("setup(packages=find_packages(HERE))", &[]),
            ("setup(package_dir={'': os.path.join('a', 'b')})", &[]),
            ("setup(package_dir={'': f'{a}'})", &[]),
            ("# setup(packages=find_packages())\n'''find_packages()'''", &[]),
            ("setup(package_dir={'': 'lib'", &[]),
            ("find_packages(x=))))", &["."]),
        ] {
            assert_eq!(PythonManifest::of_setup(text).sources, expected, "{text}");
        }
        let moved = PythonManifest::of_setup("setup(package_dir={'a': 'code', 'b.c': \"lib/b/c\"}, packages=['a'])");
        assert_eq!(moved.packages, [("a".to_owned(), "code".to_owned())]);
        assert_eq!(moved.sources, ["lib"]);
        assert!(moved.is_project);
        assert!(!PythonManifest::of_setup("import setup").is_project);
    }

    #[test]
    fn pybuilder_has_its_own_roots_where_it_names_none() {
        let roots = |text: &str| PythonManifest::of_build(text).sources;
        assert_eq!(
            roots("use_plugin('python.core')"),
            PYBUILDER_ROOTS.map(|(_, folder)| folder)
        );
        let named = "use_plugin('python.core')\nproject.set_property('dir_source_main_python', 'app')\n\
                     project.set_property('dir_source_unittest_python', TESTS)";
        assert_eq!(roots(named), ["app", "src/integrationtest/python"]);
        assert!(roots("print('build')").is_empty());
    }
}
