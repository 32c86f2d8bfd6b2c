//! YAML as a tree in which each node knows its bytes.

pub(super) struct Tree {
    pub root: Node,
    /// Where text can still be appended to the document.
    pub end: usize,
}

/// A node, from its first byte (of a block list: its first `-`) to its last; without a final line break, except where the
/// line breaks belong to a block scalar (`|+`).
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
    /// Its `-`; of a flow list, its first byte.
    pub dash: usize,
    pub node: Node,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_start: usize,
    /// After its colon.
    pub value_from: usize,
    pub value: Node,
}

impl Node {
    /// Nothing, `~` or `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar { text, style: Style::Plain } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
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

    /// The value of `key`.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| entry.key == key)
    }

    /// Whether both say the same, wherever and however it is written.
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
