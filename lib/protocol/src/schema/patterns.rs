//! Patterns of strings. They accept the same texts as the server's `parse`.

/// White space as `str::trim` defines it; dialects of regular expressions differ in `\s`.
macro_rules! space {
    () => {
        r"\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    };
}

/// A part of a repository's path, or its host.
macro_rules! word {
    () => {
        r"(?!\.{1,2}(?:[/:\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]|$))[A-Za-z0-9._~-]+"
    };
}

/// A host: a name may end in a dot.
macro_rules! host {
    () => {
        r"(?!\.{1,3}(?:[/:]|$))[A-Za-z0-9._~-]+"
    };
}

/// Endings that do not count as part of a path, in any number.
macro_rules! tail {
    () => {
        r"(?:/|\.[Gg][Ii][Tt])*"
    };
}

// At least two words follow the host. The last, without these endings, is not empty and not `.` or `..`.
pub(super) const REPO_URL: &str = concat!(
    "^[",
    space!(),
    r"]*(?:(?:[Hh][Tt][Tt][Pp][Ss]?|[Ss][Ss][Hh]|[Gg][Ii][Tt])://(?:[^/]*@)?",
    host!(),
    r"(?::[0-9]+)?/|(?:[^:/]*@)?",
    host!(),
    r":(?!//)/*|(?=[^/]*[^./]\.+[^./]|[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]/)",
    host!(),
    r"/)(?![^/]*",
    tail!(),
    "[",
    space!(),
    r"]*$)(?![\s\S]*/\.{1,2}\.[Gg][Ii][Tt]",
    tail!(),
    "[",
    space!(),
    "]*$)",
    word!(),
    "(?:/",
    word!(),
    ")+",
    tail!(),
    "[",
    space!(),
    "]*$"
);

pub(super) const COMMIT_ID: &str = concat!("^[", space!(), "]*[0-9A-Fa-f]{7,64}[", space!(), "]*$");

/// The characters from U+007F on that `plain_text` removes, except joiners: controls, text direction marks, line ends,
/// fillers, noncharacters, and variation selectors. Not all validators can name characters beyond U+FFFF, so they are
/// missing.
macro_rules! marks {
    () => {
        concat!(
            r"\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f",
            r"\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f",
            r"\u3164\ufdd0-\ufdef\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
        )
    };
}

/// The characters that `plain_text` removes, except ASCII controls.
macro_rules! unseen_beyond_ascii {
    () => {
        concat!(r"\u200c\u200d", marks!())
    };
}

macro_rules! branch {
    () => {
        concat!(
            r"^(?!-|HEAD$)(?![\s\S]*(?:\.\.|@\{|/\.|//|\.lock(?:/|$)|[",
            unseen_beyond_ascii!(),
            "]))",
            r"[^\u0000- \u007f~^:?*\[\\/.](?:[^\u0000- \u007f~^:?*\[\\]*[^\u0000- \u007f~^:?*\[\\/.])?$"
        )
    };
}

macro_rules! intent_id {
    () => {
        "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
    };
}

macro_rules! handle {
    () => {
        "^(?![Bb][Rr][Oo][Aa][Dd][Cc][Aa][Ss][Tt]$)[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"
    };
}

/// Characters that no path has: invisible ones, and the backslash.
macro_rules! not_in_paths {
    () => {
        concat!(r"\u0000-\u001f\\", marks!())
    };
}

/// Joiners that have nothing to join: after ASCII, after another joiner, or at the start.
macro_rules! lone_joiner {
    () => {
        r"(?:^|[\u0000-\u007f\u200c\u200d])[\u200c\u200d]"
    };
}

pub(super) const FILE_PATH: &str = concat!(
    r"^(?![\s\S]*",
    lone_joiner!(),
    r")(?!/|[A-Za-z]:/|\.\.?$|\.\./|[\s\S]*/\.\.?$|[\s\S]*/\.\./|(?:\./+)*[",
    space!(),
    "])[^",
    not_in_paths!(),
    "]*[^/",
    not_in_paths!(),
    space!(),
    "]$"
);

pub(super) const AGENT_ID: &str = "^[A-Za-z0-9._:-]{1,128}$";

/// Characters that `plain_text` removes.
macro_rules! unseen {
    () => {
        concat!(r"\u0000-\u001f", unseen_beyond_ascii!())
    };
}

pub(super) const MESSAGE: &str = concat!(
    "^[",
    space!(),
    unseen!(),
    "]*[^",
    space!(),
    unseen!(),
    r"](?:[\s\S]{0,498}[^",
    space!(),
    unseen!(),
    "])?[",
    space!(),
    unseen!(),
    "]*$"
);

/// A line whose first and last characters are visible, with at most `$between` characters between these two.
macro_rules! visible_line {
    ($between:literal) => {
        concat!(
            "^[^",
            space!(),
            unseen!(),
            "](?:[^",
            unseen!(),
            "]{0,",
            $between,
            "}[^",
            space!(),
            unseen!(),
            "])?$"
        )
    };
}

pub(super) const PLAIN_TEXT: &str = concat!(
    r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f",
    unseen_beyond_ascii!(),
    "]*$"
);

pub(super) const SCOPE_PATTERN: &str = concat!("^[^", unseen!(), "]+$");

pub(super) const SHORT_TEXT: &str = concat!("[^", space!(), unseen!(), "]");
