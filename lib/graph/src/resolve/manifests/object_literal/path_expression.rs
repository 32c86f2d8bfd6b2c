//! Paths that a configuration computes from strings alone, relative to its own folder:
//!
//! - `resolve("a")`, `path.join(__dirname, "a", "b")`, `resolve(import.meta.dirname, "a")`, `resolver.resolve("a")`
//! - `fileURLToPath(new URL("./a", import.meta.url))`, `new URL("./a", import.meta.url).pathname`
//!
//! The current folder counts as that of the configuration: tools start there.

use super::token::Token;

/// Most strings of one path.
const MAX_PARTS: usize = 8;

/// Reads the path whose first token is at `at`; returns it with the number of the token after it.
pub(super) fn read(tokens: &[Token<'_>], at: usize) -> Option<(String, usize)> {
    if let Some(end) = call(tokens, at, &["fileURLToPath"]) {
        let (path, end) = own_url(tokens, end)?;
        return Some((path, punct(tokens, end, b')')?));
    }
    if let Some((path, end)) = own_url(tokens, at) {
        let end = punct(tokens, end, b'.')?;
        return (tokens.get(end) == Some(&Token::Name("pathname"))).then_some((path, end + 1));
    }
    let mut next = call(tokens, at, &["resolve", "join"])?;
    let mut parts: Vec<&str> = Vec::new();
    if let Some(end) = own_folder(tokens, next) {
        next = punct(tokens, end, b',')?;
    }
    while parts.len() < MAX_PARTS {
        let Some(Token::Text(part)) = tokens.get(next) else {
            break;
        };
        if part.starts_with('/') {
            return None;
        }
        parts.push(part);
        next += 1;
        match punct(tokens, next, b',') {
            Some(end) => next = end,
            None => break,
        }
    }
    let end = punct(tokens, next, b')')?;
    (!parts.is_empty()).then(|| (parts.join("/"), end))
}

/// The number of the token after the parenthesis of a call of one of `functions`, which may be a property.
fn call(tokens: &[Token<'_>], at: usize, functions: &[&str]) -> Option<usize> {
    let is_property = tokens.get(at + 1) == Some(&Token::Punct(b'.'));
    let name = if is_property { at + 2 } else { at };
    match tokens.get(name)? {
        Token::Name(function) if functions.contains(function) => punct(tokens, name + 1, b'('),
        _ => None,
    }
}

/// `__dirname`, `import.meta.dirname`, `process.cwd()`, or `dirname(fileURLToPath(import.meta.url))`, in which each
/// function may be a property (`path.dirname`).
fn own_folder(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    if tokens.get(at) == Some(&Token::Name("__dirname")) {
        return Some(at + 1);
    }
    if let Some(end) = of_meta(tokens, at, "dirname") {
        return Some(end);
    }
    if tokens.get(at) == Some(&Token::Name("process")) {
        return punct(tokens, call(tokens, at, &["cwd"])?, b')');
    }
    let file = call(tokens, call(tokens, at, &["dirname"])?, &["fileURLToPath"])?;
    punct(tokens, punct(tokens, of_meta(tokens, file, "url")?, b')')?, b')')
}

/// `new URL("./a", import.meta.url)`.
fn own_url(tokens: &[Token<'_>], at: usize) -> Option<(String, usize)> {
    let [
        Token::Name("new"),
        Token::Name("URL"),
        Token::Punct(b'('),
        Token::Text(path),
        Token::Punct(b','),
    ] = tokens.get(at..at + 5)?
    else {
        return None;
    };
    let is_relative = !path.starts_with('/') && !path.contains(':');
    let end = punct(tokens, of_meta(tokens, at + 5, "url")?, b')')?;
    is_relative.then(|| ((*path).to_owned(), end))
}

/// `import.meta.NAME`.
fn of_meta(tokens: &[Token<'_>], at: usize, name: &str) -> Option<usize> {
    let [
        Token::Name("import"),
        Token::Punct(b'.'),
        Token::Name("meta"),
        Token::Punct(b'.'),
        Token::Name(last),
    ] = tokens.get(at..at + 5)?
    else {
        return None;
    };
    (*last == name).then_some(at + 5)
}

/// The number of the token after `expected`, if it is the one at `at`.
fn punct(tokens: &[Token<'_>], at: usize, expected: u8) -> Option<usize> {
    (tokens.get(at) == Some(&Token::Punct(expected))).then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::super::literal_properties;

    #[test]
    fn paths_that_consist_of_strings_are_read_and_others_are_not() {
        for (value, expected) in [
            ("resolve('src')", Some("src")),
            ("path.resolve('./src', )", Some("./src")),
            ("path.join(__dirname, 'src', \"lib\")", Some("src/lib")),
            ("resolve(import.meta.dirname, '..', 'shared')", Some("../shared")),
            ("path.resolve(process.cwd(), 'src')", Some("src")),
            ("join(dirname(fileURLToPath(import.meta.url)), 'a')", Some("a")),
            (
                "path.join(path.dirname(url.fileURLToPath(import.meta.url)), 'a')",
                Some("a"),
            ),
            ("resolver.resolve('./app')", Some("./app")),
            ("fileURLToPath(new URL('./src', import.meta.url))", Some("./src")),
            ("url.fileURLToPath( new URL(`../a`, import.meta.url) )", Some("../a")),
            ("new URL('./src/', import.meta.url).pathname", Some("./src/")),
            ("new URL('./src', import.meta.url)", None),
            ("new URL('./src', base).pathname", None),
            ("fileURLToPath(new URL('file:///src', import.meta.url))", None),
            ("resolve(root, 'src')", None),
            ("resolve('src', name)", None),
            ("resolve('/src')", None),
            ("resolve(`${root}/src`)", None),
            ("resolve()", None),
            ("resolve(__dirname)", None),
            ("require.resolve('a').b", None),
            ("other('src')", None),
            ("a ? resolve('b') : 'c'", None),
            ("resolve('a') + 'b'", None),
        ] {
            let text = format!("export default {{ key: {value}, next: 1 }}");
            let found = literal_properties(&text).into_iter().map(|one| one.value);
            assert_eq!(found.collect::<Vec<_>>(), Vec::from_iter(expected), "{value}");
        }
    }
}
