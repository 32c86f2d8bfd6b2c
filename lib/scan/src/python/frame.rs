//! Open formatted strings and their replacement fields.

/// A formatted string, or a replacement field in one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// The text of a formatted string.
    Text(Quotes),
    /// The expression of a field in a string of these quotes, and its number of open brackets.
    Field(Quotes, u32),
    /// The format after the colon of a field: text again, up to the brace that ends the field.
    Format(Quotes),
}

/// The quotes that end a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quotes {
    pub(super) quote: u8,
    pub(super) is_triple: bool,
}
