//! Text -> interface: the names of a file that others can import, each with a digest of its head.
//!
//! A head is the part of a declaration that its users depend on: parameters and types, not the body. Comments, white space
//! and what a formatter changes do not count. The reading is lexical, as that of `coord_scan`: a list of tokens whose
//! brackets match, and no syntax tree. It sees one file, and resolves nothing. `docs/reference/languages.md` has what belongs to the
//! interface of each language.
//!
//! - `tokens`: the tokens of a text; `outline`: declarations -> interface
//! - `javascript`, `component`, `python`, `rust`, `go`: a language's declarations
//! - `changes`: differences between two interfaces; `stored`: the text form

mod changes;
mod component;
mod go;
mod javascript;
mod outline;
#[cfg(test)]
#[path = "../../scan/src/pieces.rs"]
mod pieces;
#[cfg(test)]
mod properties;
mod python;
mod rust;
pub mod stored;
#[cfg(test)]
mod table;
mod tokens;

use std::borrow::Cow;

pub use changes::{InterfaceChanges, InterfaceComparison};

use coord_scan::{Dialect, FileState, Language, text_of};
use outline::Outline;

/// Largest text whose interface is read, in bytes. Its tokens take up to 20 times as much memory while it is read.
pub const MAX_INTERFACE_BYTES: usize = 1 << 20;
/// Most names that an interface lists; its digest covers the others.
pub const MAX_INTERFACE_NAMES: usize = 1_000;
/// Most bytes of all listed names together.
pub const MAX_INTERFACE_NAME_BYTES: usize = 32 * 1024;

/// The interface of a file: the part that others can import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Digest of all names and heads: equal digests are equal interfaces.
    pub digest: u128,
    /// Names, sorted, each with the digest of its head. Among them are local declarations that the head of an exported one
    /// names, such as the type of a parameter.
    pub names: Vec<(String, u64)>,
    /// Number of names past the bounds of the list: the last ones in the order of names.
    pub left_out: u32,
}

/// Why the interface of a file is not known. Such a file counts as changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InterfaceUnknown {
    /// The language has no scanner.
    Language,
    /// Larger than [`MAX_INTERFACE_BYTES`], or than the limit on files of the graph.
    TooLarge,
    /// Not text.
    Binary,
    /// Output of a minifier.
    Minified,
    /// The source of the repository could not read it.
    Unreadable,
    /// Brackets, strings or elements do not match: the text is not valid, or was not understood.
    NotUnderstood,
}

impl InterfaceUnknown {
    /// Every reason, in order.
    pub const ALL: [InterfaceUnknown; 6] = [
        InterfaceUnknown::Language,
        InterfaceUnknown::TooLarge,
        InterfaceUnknown::Binary,
        InterfaceUnknown::Minified,
        InterfaceUnknown::Unreadable,
        InterfaceUnknown::NotUnderstood,
    ];

    /// Lower-case name, as printed and in the store.
    pub fn name(self) -> &'static str {
        match self {
            InterfaceUnknown::Language => "language",
            InterfaceUnknown::TooLarge => "too_large",
            InterfaceUnknown::Binary => "binary",
            InterfaceUnknown::Minified => "minified",
            InterfaceUnknown::Unreadable => "unreadable",
            InterfaceUnknown::NotUnderstood => "not_understood",
        }
    }
}

/// The interface of a file, or why it is not known.
pub type InterfaceResult = Result<Interface, InterfaceUnknown>;

/// The interface of a file in `language` with this `content`.
///
/// The same bytes always give the same result. The time is linear in the length of the content, and no content causes a
/// panic.
///
/// # Errors
/// When the interface cannot be read, with the reason.
pub fn interface(language: Language, content: &[u8]) -> InterfaceResult {
    let (state, text) = text_of(content, MAX_INTERFACE_BYTES as u64);
    interface_of_text(language, state, &text)
}

/// The interface of a file whose `text` was read already, and found to be in `state`.
pub fn interface_of_text(language: Language, state: FileState, text: &[u8]) -> InterfaceResult {
    match state {
        FileState::Ok => {}
        FileState::TooLarge | FileState::OverLimit => return Err(InterfaceUnknown::TooLarge),
        FileState::Binary => return Err(InterfaceUnknown::Binary),
        FileState::Minified => return Err(InterfaceUnknown::Minified),
        FileState::Unreadable => return Err(InterfaceUnknown::Unreadable),
    }
    if text.len() > MAX_INTERFACE_BYTES {
        return Err(InterfaceUnknown::TooLarge);
    }
    let mut outline = Outline::default();
    let whole = 0..text.len();
    match language {
        Language::JavaScript => javascript::read(text, whole, Dialect::JAVASCRIPT, &mut outline),
        Language::TypeScript => javascript::read(text, whole, Dialect::TYPESCRIPT, &mut outline),
        Language::TypeScriptJsx => javascript::read(text, whole, Dialect::TYPESCRIPT_JSX, &mut outline),
        Language::Vue | Language::Svelte | Language::Astro => component::read(language, text, &mut outline),
        Language::Python => python::read(text, &mut outline),
        Language::Rust => rust::read(text, &mut outline),
        Language::Go => go::read(text, &mut outline),
    }?;
    Ok(outline.interface())
}

/// A name for people: valid UTF-8 without control characters, and at most `MAX_BYTES` long.
fn shown_name(name: &[u8]) -> Cow<'_, str> {
    const MAX_BYTES: usize = 200;
    let text = String::from_utf8_lossy(&name[..name.len().min(MAX_BYTES)]);
    if text.chars().any(char::is_control) {
        return Cow::Owned(text.replace(char::is_control, "\u{fffd}"));
    }
    text
}
