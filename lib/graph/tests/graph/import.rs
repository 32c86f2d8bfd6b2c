//! One import from one file.

use coord_graph::Reason;

use super::repository::target;

pub const A: &str = "src/a.ts";

/// The target of `import 'specifier'` in `src/a.ts`, beside `others`.
pub fn import(specifier: &str, others: &[(&str, &str)]) -> Result<String, Reason> {
    let text = format!("import '{specifier}'");
    let mut files = vec![(A, text.as_str())];
    files.extend_from_slice(others);
    target(&files, A)
}

pub fn leads_to(specifier: &str, others: &[(&str, &str)], expected: &str) {
    assert_eq!(import(specifier, others), Ok(expected.to_owned()), "{specifier}");
}
