//! A YAML tree in which each node has its byte range.

pub(super) struct Tree {
    pub root: Node,
    /// The position in the document at which text can be appended.
    pub end: usize,
}

/// A node from its first byte (in a block list, the first `-`) to its last. A final line break is part of it only in a
/// block scalar that keeps its line breaks (`|+`).
#[derive(Debug)]
pub(super) struct Node {
    pub start: usize,
    pub end: usize,
    pub content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Scalar { text: String, style: Style },
    List { flow: bool, items: Vec<Item> },
    Map { flow: bool, entries: Vec<Entry> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    /// `|` or `>`; `header_end` is the end of its indicators.
    Block {
        header_end: usize,
    },
}

#[derive(Debug)]
pub(super) struct Item {
    /// The offset of its `-`; in a flow list, of its first byte.
    pub dash: usize,
    pub node: Node,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_start: usize,
    /// The offset after the colon.
    pub value_from: usize,
    pub value: Node,
}

impl Node {
    /// An empty plain scalar.
    pub fn empty(offset: usize) -> Self {
        Self {
            start: offset,
            end: offset,
            content: Content::Scalar {
                text: String::new(),
                style: Style::Plain,
            },
        }
    }

    /// Whether this is a list or map in brackets or braces.
    pub fn is_flow(&self) -> bool {
        matches!(
            self.content,
            Content::List { flow: true, .. } | Content::Map { flow: true, .. }
        )
    }

    /// Whether this is empty, `~` or `null`.
    pub fn is_null(&self) -> bool {
        match &self.content {
            Content::Scalar {
                text,
                style: Style::Plain,
            } => matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"),
            _ => false,
        }
    }

    /// Its entries, if it is a mapping.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.content {
            Content::Map { entries, .. } => Some(entries),
            _ => None,
        }
    }

    /// Its items, if it is a list.
    pub fn items(&self) -> Option<&[Item]> {
        match &self.content {
            Content::List { items, .. } => Some(items),
            _ => None,
        }
    }

    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| entry.key == key)
    }

    /// Whether both have the same value, regardless of position and notation.
    pub fn is_equivalent(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (Content::Scalar { text: a, style: s }, Content::Scalar { text: b, style: t }) => {
                a == b && (*s == Style::Plain) == (*t == Style::Plain)
            }
            (Content::List { items: a, .. }, Content::List { items: b, .. }) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.node.is_equivalent(&b.node))
            }
            (Content::Map { entries: a, .. }, Content::Map { entries: b, .. }) => {
                a.len() == b.len()
                    && a.iter()
                        .zip(b)
                        .all(|(a, b)| a.key == b.key && a.value.is_equivalent(&b.value))
            }
            _ => false,
        }
    }
}
