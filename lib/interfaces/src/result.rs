//! The interface of a file, or the reason why it is unknown.

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
    /// Names, sorted, each with the digest of its head. They include local declarations that the head of an exported
    /// one names, such as the type of a parameter.
    pub names: Vec<(String, u64)>,
    /// Number of names past the bounds of the list: the last ones in the order of names.
    pub left_out: u32,
}

/// Why the interface of a file is unknown. Such a file counts as changed.
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
