//! `vite.config` and `vitest.config`: the root and the aliases, as far as they are literal. Nothing is run: paths are read in the
//! forms in which people write them (`resolve(__dirname, "src")`, `fileURLToPath(new URL("./src", import.meta.url))`).

use std::collections::HashMap;

use crate::resolve::manifests::framework::add_alias;
use crate::resolve::manifests::object_literal::{Token, tokens};
use crate::resolve::manifests::tsconfig::Patterns;
use crate::resolve::paths::joined;

/// Most aliases of one config.
const MAX_ALIASES: usize = 256;
/// Deepest nesting of calls and constants in one value.
const MAX_DEPTH: usize = 8;
/// Longest path.
const MAX_PATH_BYTES: usize = 4_096;
/// Most tokens that the values of one config are read from; constants are read wherever they are used.
const MAX_STEPS: usize = 100_000;

/// The literal part of one config.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ViteConfig {
    /// Alias and target, relative to the config's folder, or beginning with a slash and then relative to the root.
    aliases: Vec<(String, String)>,
    /// The root, relative to the config's folder.
    root: Option<String>,
}

/// Whether a file of this name is such a config.
pub(crate) fn is_vite_config(name: &str) -> bool {
    let known = |(stem, extension): (&str, &str)| {
        ["vite.config", "vitest.config"].contains(&stem)
            && ["js", "ts", "mjs", "mts", "cjs", "cts"].contains(&extension)
    };
    name.rsplit_once('.').is_some_and(known)
}

impl ViteConfig {
    pub(crate) fn parse(text: &str) -> Self {
        let tokens = tokens(text);
        let mut reader = Reader {
            tokens: &tokens,
            constants: constants(&tokens),
            steps: MAX_STEPS,
        };
        let mut config = ViteConfig::default();
        // The names around a token; empty for an object that is not the value of a property.
        let mut open: Vec<&str> = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let value = match (token, tokens.get(at + 1)) {
                (Token::Name(name) | Token::Text(name), Some(Token::Sign(b':'))) => Some((*name, tokens.get(at + 2))),
                _ => None,
            };
            match (token, value) {
                (_, Some(("alias", Some(Token::Sign(b'{' | b'['))))) => {
                    at = reader.aliases(at + 3, &mut config.aliases)
                }
                (_, Some((name, Some(Token::Sign(b'{'))))) => {
                    open.push(name);
                    at += 3;
                }
                (_, Some(("root", _))) if config.root.is_none() && open.iter().all(|name| name.is_empty()) => {
                    config.root = match reader.value(at + 2, MAX_DEPTH) {
                        Some((Value::Path(path) | Value::Text(path), _)) if !path.starts_with('/') => Some(path),
                        _ => None,
                    };
                    at += 2;
                }
                (Token::Sign(b'{'), _) => {
                    open.push("");
                    at += 1;
                }
                (Token::Sign(b'}'), _) => {
                    open.pop();
                    at += 1;
                }
                _ => at += 1,
            }
        }
        config
    }

    /// Number of values in it.
    pub(crate) fn values(&self) -> usize {
        1 + 2 * self.aliases.len()
    }

    /// The root of the project whose config is in `folder`.
    pub(crate) fn root(&self, folder: &str) -> Option<String> {
        joined(folder, self.root.as_deref().unwrap_or_default())
    }

    /// The aliases of the project whose config is in `folder`.
    pub(crate) fn patterns(&self, folder: &str) -> Patterns {
        let mut patterns = Patterns::new();
        let root = self.root(folder);
        for (alias, target) in &self.aliases {
            let base = if target.starts_with('/') {
                root.as_deref()
            } else {
                Some(folder)
            };
            let target = base.and_then(|base| joined(base, target));
            if target.is_some() {
                add_alias(&mut patterns, alias.trim_end_matches('/'), &[target]);
            }
        }
        patterns
    }
}

/// A value in a config.
enum Value {
    /// A text as written.
    Text(String),
    /// A path relative to the config's folder, which may begin with `..`.
    Path(String),
}

/// `path` and what is below it.
fn append(path: &str, more: &str) -> Option<String> {
    let more = more.trim_start_matches('/');
    let is_short = path.len() + more.len() < MAX_PATH_BYTES;
    is_short.then(|| {
        if path.is_empty() {
            more.to_owned()
        } else {
            format!("{path}/{more}")
        }
    })
}

impl Value {
    /// The path that it stands for as an alias. A text is one where it begins with a slash: any other is a package's name.
    fn into_path(self) -> Option<String> {
        match self {
            Value::Path(path) => Some(path),
            Value::Text(text) => text.starts_with('/').then_some(text),
        }
    }
}

/// The tokens after `const NAME =`, by name.
fn constants<'t>(tokens: &[Token<'t>]) -> HashMap<&'t str, usize> {
    let mut found = HashMap::new();
    for (at, window) in tokens.windows(3).enumerate() {
        if let [
            Token::Name("const" | "let" | "var"),
            Token::Name(name),
            Token::Sign(b'='),
        ] = window
        {
            found.entry(*name).or_insert(at + 3);
        }
    }
    found
}

struct Reader<'r, 't> {
    tokens: &'r [Token<'t>],
    constants: HashMap<&'t str, usize>,
    /// How many tokens may still be read.
    steps: usize,
}

impl<'t> Reader<'_, 't> {
    fn token(&mut self, at: usize) -> Option<Token<'t>> {
        self.steps = self.steps.checked_sub(1)?;
        self.tokens.get(at).copied()
    }

    fn is_sign(&mut self, at: usize, sign: u8) -> bool {
        self.token(at) == Some(Token::Sign(sign))
    }

    /// Adds the aliases of the object or list whose content begins at `start`. Returns the position after it.
    fn aliases(&mut self, start: usize, found: &mut Vec<(String, String)>) -> usize {
        let (mut find, mut replacement) = (None, None);
        let mut depth = 1;
        let mut at = start;
        while let Some(token) = self.tokens.get(at).copied() {
            match token {
                Token::Sign(b'{' | b'[' | b'(') => depth += 1,
                Token::Sign(b'}' | b']' | b')') if depth == 1 => return at + 1,
                Token::Sign(b'}' | b']' | b')') => {
                    depth -= 1;
                    // The end of `{ find, replacement }`.
                    if depth == 1
                        && let (Some(find), Some(replacement)) = (find.take(), replacement.take())
                        && found.len() < MAX_ALIASES
                    {
                        found.push((find, replacement));
                    }
                }
                Token::Name(name) | Token::Text(name) if self.tokens.get(at + 1) == Some(&Token::Sign(b':')) => {
                    match (depth, name, self.tokens.get(at + 2)) {
                        (2, "find", Some(Token::Text(text))) => find = Some((*text).to_owned()),
                        (2, "replacement", _) => replacement = self.path(at + 2).map(|(path, _)| path),
                        (1, ..) if found.len() < MAX_ALIASES => {
                            let path = self.path(at + 2);
                            found.extend(path.map(|(path, _)| (name.to_owned(), path)));
                        }
                        _ => {}
                    }
                    at += 1;
                }
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// The path that the value at `at` stands for, and its end.
    fn path(&mut self, at: usize) -> Option<(String, usize)> {
        let (value, end) = self.value(at, MAX_DEPTH)?;
        Some((value.into_path()?, end))
            .filter(|_| matches!(self.tokens.get(end), None | Some(Token::Sign(b',' | b'}' | b']'))))
    }

    /// The value at `at`, with what is appended to it by `+`, and its end.
    fn value(&mut self, at: usize, depth: usize) -> Option<(Value, usize)> {
        let (mut value, mut end) = self.operand(at, depth.checked_sub(1)?)?;
        while self.is_sign(end, b'+') {
            let Some(Token::Text(more)) = self.token(end + 1) else {
                return None;
            };
            value = match value {
                Value::Path(path) => Value::Path(append(&path, more)?),
                Value::Text(text) => Value::Text(text + more),
            };
            end += 2;
        }
        Some((value, end))
    }

    fn operand(&mut self, at: usize, depth: usize) -> Option<(Value, usize)> {
        let here = |end| Some((Value::Path(String::new()), end));
        let first = match self.token(at)? {
            Token::Text(text) if text.len() < MAX_PATH_BYTES => return Some((Value::Text(text.to_owned()), at + 1)),
            Token::Name(name) => name,
            Token::Text(_) | Token::Sign(_) | Token::Operand => return None,
        };
        if first == "new" {
            let (arguments, end) = self.arguments(at + 2, depth)?;
            let (Some(Token::Name("URL")), [Value::Text(path), Value::Path(base)]) =
                (self.token(at + 1), &arguments[..])
            else {
                return None;
            };
            let path = append(base, path)?;
            let is_field = matches!(self.token(end + 1), Some(Token::Name("pathname" | "href")));
            let end = if self.is_sign(end, b'.') && is_field {
                end + 2
            } else {
                end
            };
            return Some((Value::Path(path), end));
        }
        // `a.b.c`: the last name decides.
        let (mut last, mut end) = (first, at + 1);
        while self.is_sign(end, b'.') {
            let Some(Token::Name(name)) = self.token(end + 1) else {
                return None;
            };
            (last, end) = (name, end + 2);
        }
        if self.is_sign(end, b'(') {
            let (arguments, end) = self.arguments(end, depth)?;
            return Some((Value::Path(call(last, arguments)?), end));
        }
        match (first, last) {
            // Of `import.meta.url`, the folder is all that is used.
            ("__dirname", "__dirname") | ("import", "dirname" | "url") => here(end),
            (name, other) if name == other => {
                let constant = *self.constants.get(name)?;
                Some((self.value(constant, depth)?.0, end))
            }
            _ => None,
        }
    }

    /// The arguments in the parentheses that open at `at`, and the position after them.
    fn arguments(&mut self, at: usize, depth: usize) -> Option<(Vec<Value>, usize)> {
        if !self.is_sign(at, b'(') {
            return None;
        }
        let mut values = Vec::new();
        let mut end = at + 1;
        while !self.is_sign(end, b')') {
            let (value, after) = self.value(end, depth)?;
            values.push(value);
            end = if self.is_sign(after, b',') { after + 1 } else { after };
            if end == after && !self.is_sign(end, b')') {
                return None;
            }
        }
        Some((values, end + 1))
    }
}

/// The path that a call of the function `name` returns. The working directory is the config's folder.
fn call(name: &str, arguments: Vec<Value>) -> Option<String> {
    let is_path = matches!(arguments.first(), Some(Value::Path(_)));
    match (name, arguments.len()) {
        ("cwd", 0) => Some(String::new()),
        ("dirname" | "fileURLToPath" | "normalizePath" | "normalize", 1) | ("join", _) if !is_path => None,
        ("dirname" | "fileURLToPath" | "normalizePath" | "normalize", 1) | ("join" | "resolve", _) => {
            let mut path = String::new();
            for argument in arguments {
                path = match argument {
                    Value::Path(absolute) => absolute,
                    Value::Text(text) if name == "resolve" && text.starts_with('/') => return None,
                    Value::Text(text) => append(&path, &text)?,
                };
            }
            Some(path)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn aliases_are_read_in_the_forms_in_which_people_write_them() {
        for (value, expected) in [
            ("'/src'", Some("d/src")),
            ("resolve(__dirname, 'src')", Some("d/src")),
            ("path.resolve(__dirname, './src/', 'x',)", Some("d/src/x")),
            ("path.resolve('src')", Some("d/src")),
            ("path.posix.join(__dirname, '/src')", Some("d/src")),
            ("path.join(import.meta.dirname, '..', 'x')", Some("x")),
            ("path.join(process.cwd(), 'src')", Some("d/src")),
            ("fileURLToPath(new URL('../src', import.meta.url))", Some("src")),
            ("url.fileURLToPath(new URL(\"src/\", import.meta.url))", Some("d/src")),
            ("new URL('./src', import.meta.url).pathname", Some("d/src")),
            (
                "path.resolve(path.dirname(fileURLToPath(import.meta.url)), 'src')",
                Some("d/src"),
            ),
            ("__dirname + '/src'", Some("d/src")),
            ("source", Some("d/code")),
            ("path.resolve(source, 'x')", Some("d/code/x")),
            ("circle", None),
            ("'vue'", None),
            ("'./src'", None),
            ("path.resolve('/src')", None),
            ("path.resolve('../../src')", None),
            ("resolve(unknown, 'src')", None),
            ("resolve(__dirname, name ? 'a' : 'b')", None),
            ("resolve(__dirname, 'src') || x", None),
            ("[resolve(__dirname, 'src')]", None),
        ] {
            let before = "const source = resolve(__dirname, 'code'); const circle = circle;";
            let found = |config: String| {
                let text = format!(
                    "{before} export default defineConfig({{ plugins: [a()], resolve: {{ alias: {config} }} }})"
                );
                let patterns = ViteConfig::parse(&text).patterns("d");
                patterns
                    .into_iter()
                    .find(|(key, _)| key == "@")
                    .map(|(_, targets)| targets.concat())
            };
            for config in [
                format!("{{ '@': {value}, b: c }}"),
                format!("[{{ find: '@', replacement: {value} }}, x()]"),
                format!("[x(), {{ replacement: {value}, find: '@' }}]"),
            ] {
                assert_eq!(
                    found(config.clone()).as_deref(),
                    expected.map(|path| path.trim_end_matches('/')),
                    "{config}"
                );
            }
        }
    }

    #[test]
    fn aliases_lead_below_the_config_or_the_root() {
        let text = "export default { root: 'web', test: { root: 'no', alias: { '~/': '/lib', $a: resolve('a'), up: resolve('../..') } } }";
        let config = ViteConfig::parse(text);
        assert_eq!(config.root("app"), Some("app/web".to_owned()));
        let found = config.patterns("app");
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(key, targets)| (key.as_str(), targets[0].as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("~/*", "app/web/lib/*"),
                ("~", "app/web/lib"),
                ("$a/*", "app/a/*"),
                ("$a", "app/a")
            ]
        );
        assert_eq!(ViteConfig::parse("").root("app"), Some("app".to_owned()));
    }

    #[test]
    fn hostile_configs_end() {
        for piece in [
            "resolve(",
            "a+'b'+",
            "new URL(",
            "[{",
            "alias:{",
            "a:a,",
            "const a=a;alias:{a:a},",
        ] {
            let text = format!("alias: {{ a: {} }}", piece.repeat(20_000));
            assert!(ViteConfig::parse(&text).aliases.len() <= MAX_ALIASES, "{piece}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in r#"(alias|root|resolve|new|URL|find|replacement|const|a|[{}:,'"`/\[\]\\().+ é$\n]){0,40}"#) {
            ViteConfig::parse(&text).patterns("a");
        }
    }
}
