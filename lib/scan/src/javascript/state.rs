//! The state of the scanner between tokens.

/// The last token, as far as it affects the meaning of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PreviousToken {
    /// The start of the file or of a statement.
    Statement,
    /// The end of a block, a function or a class.
    BlockEnd,
    /// A name, a literal, `]`, or the end of an object: a slash after it divides.
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
    /// `if`, `while`, `for`, `with`: a statement follows after their parentheses.
    Head,
    /// The closing parenthesis of such a head.
    HeadEnd,
    /// `=>`: a brace opens a function body.
    Arrow,
}

impl PreviousToken {
    /// Whether a slash begins a regular expression and not a division.
    pub(super) fn expects_expression(self) -> bool {
        !matches!(self, PreviousToken::Operand | PreviousToken::Dot | PreviousToken::Head)
    }

    /// Whether `<` can begin a JSX element.
    pub(super) fn expects_element(self) -> bool {
        self.expects_expression() && self != PreviousToken::BlockEnd
    }

    /// Whether `{` begins an object (or a type, or a pattern) and not a block.
    pub(super) fn expects_object(self) -> bool {
        matches!(
            self,
            PreviousToken::Operator | PreviousToken::Keyword | PreviousToken::Typeof
        )
    }
}

/// An open bracket, template or element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// `(`.
    Parenthesis,
    /// `(` after `if`, `while`, `for` or `with`.
    HeadParenthesis,
    /// `(` of a call on a test runner, after which other calls on it may follow.
    MockParenthesis,
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
    /// Stands on top of the frame of an element that has no content, within its tag.
    VoidElement,
    /// The braces around all of the code that is scanned.
    MarkupHole,
    /// `${` in a template that is the value of an attribute.
    ValueTemplateHole,
    /// The whole of a document in HTML.
    Document,
}

/// The start of an element in an expression: the position to go back to if it turns out to be a comparison or a list of
/// type parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    /// The position of its `<`.
    pub(super) position: usize,
    /// Number of open frames there.
    pub(super) frames: usize,
    /// The mark of the findings before it.
    pub(super) mark: u32,
}

/// A part of an element that is not code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Between `<` and `>`.
    Tag,
    /// Between an opening and a closing tag.
    Children,
    /// Between the backticks of an attribute's value, in HTML.
    Template,
    /// Neither: a hole begins, or the outermost element has ended.
    Code,
}

/// Open braces of markup: the state to restore if nothing closes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenBraces {
    /// The position after the brace.
    pub(super) position: usize,
    /// The part of the markup that the brace is in.
    pub(super) part: Part,
    /// Number of open frames around it.
    pub(super) frames: usize,
    /// The mark of the findings before it.
    pub(super) mark: u32,
    /// Number of scripts before it.
    pub(super) scripts: usize,
}
