//! What the scanner remembers between tokens.

/// The last token, as far as it decides the meaning of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Previous {
    /// The start of the file or of a statement.
    Statement,
    /// The end of a block, a function or a class.
    BlockEnd,
    /// A name, a literal, `]`, or the end of an object: a slash divides it.
    Operand,
    /// `.` or `?.`: a name that follows is a property.
    Dot,
    /// An operator, an opening parenthesis or bracket: an expression comes next.
    Operator,
    /// `return`, `typeof` and the like: an expression comes next.
    Keyword,
    /// `typeof`, which makes `import("x")` a type.
    Typeof,
    /// `else`, `do`, `try`: a statement comes next, and a brace opens a block.
    Branch,
    /// `if`, `while`, `for`, `with`: behind the parentheses that follow comes a statement.
    Head,
    /// The closing parenthesis of such a head.
    HeadEnd,
    /// `=>`: a brace opens a function body.
    Arrow,
}

impl Previous {
    /// Whether a slash begins a regular expression rather than dividing.
    pub(super) fn expects_expression(self) -> bool {
        !matches!(self, Previous::Operand | Previous::Dot | Previous::Head)
    }

    /// Whether `<` can begin a JSX element.
    pub(super) fn expects_element(self) -> bool {
        self.expects_expression() && self != Previous::BlockEnd
    }

    /// Whether `{` begins an object (or a type, or a pattern) rather than a block.
    pub(super) fn expects_object(self) -> bool {
        matches!(self, Previous::Operator | Previous::Keyword | Previous::Typeof)
    }
}

/// Something that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// `(`.
    Parenthesis,
    /// `(` behind `if`, `while`, `for` or `with`.
    HeadParenthesis,
    /// `{` of statements.
    Block,
    /// `{` of an object.
    Object,
    /// `${` in a template.
    TemplateHole,
    /// `{` among the attributes of an element.
    AttributeHole,
    /// `{` among the children of an element.
    ChildHole,
    /// An element in an expression.
    RootElement,
    /// An element that is a child of another.
    ChildElement,
    /// An element that is the value of an attribute.
    ValueElement,
}

/// Where an element in an expression began: the place to go back to if it turns out to be a comparison or a list of
/// type parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    /// Of its `<`.
    pub(super) position: usize,
    /// How many frames were open.
    pub(super) frames: usize,
    /// How many imports had been found.
    pub(super) found: usize,
}
