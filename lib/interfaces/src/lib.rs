//! Text -> interface: the names of a file that others can import, each with a digest of its head.
//!
//! A head is the part of a declaration that its users depend on: parameters and types, not the body. Comments, white
//! space and the changes of formatters do not count. Like `coord_scan`, this crate reads text lexically: it builds a
//! list of tokens whose brackets match, and no syntax tree. It sees one file, and resolves nothing.
//! `docs/reference/languages.md` has the rules for each language.
//!
//! - `tokens`: the tokens of a text; `outline`: declarations -> interface
//! - `javascript`, `component`, `python`, `rust`, `go`: a language's declarations
//! - `result`: an interface, or why it is unknown; `changes`: differences between two interfaces; `stored`: the text
//!   form

mod changes;
mod component;
mod go;
mod javascript;
mod outline;
#[cfg(test)]
mod properties;
mod python;
mod result;
mod rust;
pub mod stored;
#[cfg(test)]
mod table;
mod tokens;

pub use changes::{InterfaceChanges, InterfaceComparison};
pub use result::{
    Interface, InterfaceResult, InterfaceUnknown, MAX_INTERFACE_BYTES, MAX_INTERFACE_NAME_BYTES, MAX_INTERFACE_NAMES,
};

use coord_scan::{Dialect, FileState, Language, text_to_scan};
use outline::Outline;

/// The interface of a file in `language` with this `content`.
///
/// The same bytes always give the same result. The time is linear in the length of the content, and no content causes
/// a panic.
///
/// # Errors
/// When the interface cannot be read, with the reason.
pub fn interface(language: Language, content: &[u8]) -> InterfaceResult {
    let (state, text) = text_to_scan(content, MAX_INTERFACE_BYTES as u64);
    interface_of_text(language, state, &text)
}

/// The interface of a file whose `text` and `state` are already known.
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
    match language {
        Language::JavaScript => javascript::read(text, Dialect::JAVASCRIPT, &mut outline),
        Language::TypeScript => javascript::read(text, Dialect::TYPESCRIPT, &mut outline),
        Language::TypeScriptJsx => javascript::read(text, Dialect::TYPESCRIPT_JSX, &mut outline),
        Language::Vue | Language::Svelte | Language::Astro => component::read(language, text, &mut outline),
        Language::Python => python::read(text, &mut outline),
        Language::Rust => rust::read(text, &mut outline),
        Language::Go => go::read(text, &mut outline),
    }?;
    Ok(outline.interface())
}
