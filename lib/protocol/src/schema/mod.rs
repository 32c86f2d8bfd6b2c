//! Strings of the wire as JSON Schema, for the OpenAPI document. A pattern accepts the same texts as the server's
//! `parse`. A schema counts characters and `parse` counts bytes, so their limits differ for text beyond ASCII.

#[macro_use]
mod patterns;

use std::borrow::Cow;

use utoipa::openapi::schema::{Object, ObjectBuilder, Schema, Type};
use utoipa::openapi::{KnownFormat, RefOr, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

use self::patterns::{AGENT_ID, COMMIT_ID, FILE_PATH, MESSAGE, PLAIN_TEXT, REPO_URL, SCOPE_PATTERN, SHORT_TEXT};
use crate::bounds;

/// A commit id as callers send it.
#[derive(Clone, Copy, Debug)]
pub enum CommitId {}

/// A repository as callers name it.
#[derive(Clone, Copy, Debug)]
pub enum RepoUrl {}

/// A commit id as the repository has it.
#[derive(Clone, Copy, Debug)]
pub enum CommitSha {}

/// The name of a branch.
#[derive(Clone, Copy, Debug)]
pub enum Branch {}

/// A file of a repository.
#[derive(Clone, Copy, Debug)]
pub enum FilePath {}

/// One of several agents of one person.
#[derive(Clone, Copy, Debug)]
pub enum AgentId {}

/// The id of an intent.
#[derive(Clone, Copy, Debug)]
pub enum IntentId {}

/// The id of an event in the log of its repository.
#[derive(Clone, Copy, Debug)]
pub enum EventId {}

/// The sentence that says why a file is locked.
#[derive(Clone, Copy, Debug)]
pub enum Message {}

/// A branch, or an empty text for every branch.
#[derive(Clone, Copy, Debug)]
pub enum BranchOrEvery {}

/// The id of an intent, or an empty text for none.
#[derive(Clone, Copy, Debug)]
pub enum IntentIdOrNone {}

/// One line of text, such as a criterion or a reason.
#[derive(Clone, Copy, Debug)]
pub enum PlainLine {}

/// The name of an intent.
#[derive(Clone, Copy, Debug)]
pub enum IntentName {}

/// Text of several lines.
#[derive(Clone, Copy, Debug)]
pub enum PlainText {}

/// The pattern of files in a scope.
#[derive(Clone, Copy, Debug)]
pub enum ScopePattern {}

/// A short text with a visible character, such as the name of a tool.
#[derive(Clone, Copy, Debug)]
pub enum ShortText {}

/// The id of an event in the ledger.
#[derive(Clone, Copy, Debug)]
pub enum TraceId {}

/// The content of a file, as a digest.
#[derive(Clone, Copy, Debug)]
pub enum ContentHash {}

/// The name of a team.
#[derive(Clone, Copy, Debug)]
pub enum TeamName {}

/// The name of a member in a team.
#[derive(Clone, Copy, Debug)]
pub enum Handle {}

/// A handle, or an empty text for none.
#[derive(Clone, Copy, Debug)]
pub enum HandleOrNone {}

/// The id of a task.
#[derive(Clone, Copy, Debug)]
pub enum TaskId {}

/// The title of a task.
#[derive(Clone, Copy, Debug)]
pub enum TaskTitle {}

/// A description, a note, a result or a message.
#[derive(Clone, Copy, Debug)]
pub enum LongText {}

/// The key of a request that may be repeated.
#[derive(Clone, Copy, Debug)]
pub enum RequestKey {}

/// A specification to which an intent is related.
#[derive(Clone, Copy, Debug, ToSchema)]
#[serde(untagged)]
pub enum RelatedSpecification {
    /// Its name.
    #[schema(value_type = PlainLine)]
    Text(PlainLine),
    /// Its kind and name.
    Typed {
        /// Its kind.
        r#type: PlainLine,
        /// Its name.
        value: PlainLine,
    },
}

/// Declares the schema of a type that is a string.
macro_rules! text {
    ($type:ty, $name:literal, $pattern:expr, $description:expr, $examples:expr, $bound:expr) => {
        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                let text = ObjectBuilder::new()
                    .schema_type(Type::String)
                    .pattern(Some($pattern))
                    .description(Some($description))
                    .examples($examples);
                $bound(text).into()
            }
        }

        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }
        }
    };
}

text!(
    RepoUrl,
    "RepoUrl",
    REPO_URL,
    "A repository by any of its URLs: https, http, ssh, git or scp form, with or without `.git`, a user and a port, \
     or by its name, `host/owner/name`; the case of letters does not matter. All of them are one repository. At most \
     2,048 bytes.",
    [
        "https://github.com/acme/shop.git",
        "git@github.com:acme/shop.git",
        "github.com/acme/shop"
    ],
    |text: ObjectBuilder| text.max_length(Some(bounds::REPO_URL_BYTES))
);
text!(
    CommitId,
    "CommitId",
    COMMIT_ID,
    "A commit: 7 to 64 hex digits, as `git rev-parse HEAD` prints. An abbreviation stands for every id that begins \
     with it.",
    ["9bee4e1"],
    |text| text
);
text!(
    CommitSha,
    "CommitSha",
    "^[0-9a-f]{7,64}$",
    "A commit: hex digits in lower case, full length as the repository has it.",
    ["9bee4e1c1b8f5f0e7f3a52d1c6a0e94b1d7c2f38"],
    |text| text
);
text!(
    Branch,
    "Branch",
    branch!(),
    "A branch, without `refs/heads/`: valid by `git check-ref-format --branch`, without invisible characters, and at \
     most 255 bytes.",
    ["main", "feature/login"],
    |text: ObjectBuilder| text.max_length(Some(bounds::BRANCH_BYTES))
);
text!(
    FilePath,
    "FilePath",
    FILE_PATH,
    "A file, relative to the root of the repository, with `/` between folders; `./` and doubled slashes are folded, \
     and characters composed (NFC). Not absolute, no folder, no `..`, no backslash, no control or invisible \
     characters, no whitespace at either end, and at most 4,096 bytes.",
    ["src/auth.ts"],
    |text: ObjectBuilder| text.max_length(Some(bounds::PATH_BYTES))
);
text!(
    AgentId,
    "AgentId",
    AGENT_ID,
    "One of several agents of one person.",
    ["planner-1"],
    |text| text
);
text!(
    IntentId,
    "IntentId",
    intent_id!(),
    "An intent of the repository.",
    ["018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f10", "REQ-POOL-1"],
    |text| text
);
text!(
    EventId,
    "EventId",
    "^[0-9]{1,19}-[0-9]{1,19}$",
    "An event of a repository's log. `0-0` is before the first.",
    ["1795306224000-0"],
    |text| text
);
text!(
    Message,
    "Message",
    MESSAGE,
    "One sentence: 1 to 500 characters after trimming; control characters and those that change the direction of text \
     are removed. A message that only names the files gets the warning `VAGUE_MESSAGE`.",
    ["Adding connection pooling, query() becomes async"],
    |text| text
);

text!(
    BranchOrEvery,
    "BranchOrEvery",
    concat!("^$|", branch!()),
    "A branch, or an empty text for every branch.",
    ["main", ""],
    |text: ObjectBuilder| text.max_length(Some(bounds::BRANCH_BYTES))
);
text!(
    IntentIdOrNone,
    "IntentIdOrNone",
    concat!("^$|", intent_id!()),
    "An intent of the repository, or an empty text for none.",
    ["REQ-POOL-1", ""],
    |text| text
);
text!(
    PlainLine,
    "PlainLine",
    visible_line!("498"),
    "One line of 1 to 500 characters, without control or invisible characters, and without leading or trailing spaces.",
    ["All tests pass"],
    |text| text
);
text!(
    IntentName,
    "IntentName",
    visible_line!("198"),
    "One line of 1 to 200 characters, without control or invisible characters, and without leading or trailing spaces.",
    ["Pool the connections"],
    |text| text
);
text!(
    PlainText,
    "PlainText",
    PLAIN_TEXT,
    "Lines of text, without invisible characters and without control characters but tabs and line ends.",
    ["Each request opens a connection. A pool keeps ten."],
    |text| text
);
text!(
    ScopePattern,
    "ScopePattern",
    SCOPE_PATTERN,
    "Files from the root of the repository, as a line of `.gitignore` that begins with `/` names them; `{a,b}` stands \
     for both. At most 512 bytes. Refused: `!`, `..`, absolute paths, backslash separators and POSIX classes.",
    ["src/db/**"],
    |text: ObjectBuilder| text.max_length(Some(512))
);
text!(
    ShortText,
    "ShortText",
    SHORT_TEXT,
    "Text of at most 128 characters, of which one is visible.",
    ["Bash"],
    |text: ObjectBuilder| text.max_length(Some(128))
);
text!(
    TraceId,
    "TraceId",
    "^[A-Za-z0-9._-]{1,64}$",
    "The id of an event: an event that is sent twice within a day is recorded once.",
    ["018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f11"],
    |text| text
);
text!(
    ContentHash,
    "ContentHash",
    "^(?:sha256:[0-9a-f]{64}|DELETED)$",
    "The content of a file as git stores it: `sha256:` and 64 digits, or `DELETED` where there is none.",
    ["sha256:5ca890bf2046006ced7f9a4f4e9449d7beb77fc868bba102d34c34fa715078e7"],
    |text| text
);
text!(
    TeamName,
    "TeamName",
    "^[A-Za-z0-9_-]{1,64}$",
    "A team of the repository; two names that differ in case are one.",
    ["alpha"],
    |text| text
);
text!(
    Handle,
    "Handle",
    handle!(),
    "A member of a team; two handles that differ in case are one. Never `broadcast`.",
    ["worker-1"],
    |text| text
);
text!(
    HandleOrNone,
    "HandleOrNobody",
    concat!("^$|", handle!()),
    "A member of a team, or an empty text for none.",
    ["worker-1", ""],
    |text| text
);
text!(
    TaskId,
    "TaskId",
    "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$",
    "A task of a team.",
    ["t1"],
    |text| text
);
text!(
    TaskTitle,
    "TaskTitle",
    concat!("^$|", visible_line!("198")),
    "One line of at most 200 characters, without control or invisible characters, and without leading or trailing spaces; \
     empty becomes `Untitled Task`.",
    ["Pool the connections"],
    |text| text
);
text!(
    LongText,
    "LongText",
    PLAIN_TEXT,
    "Lines of text, without invisible characters and without control characters but tabs and line ends. At most \
     16 KiB.",
    ["Each request opens a connection. A pool keeps ten."],
    |text: ObjectBuilder| text.max_length(Some(bounds::TEXT_BYTES))
);
text!(
    RequestKey,
    "RequestKey",
    "^[A-Za-z0-9._-]{1,64}$",
    "A key of the caller's choice. A request with the same key and the same content gets the first answer again for \
     ten minutes.",
    ["018f6a1c-7a52-7cc3-9a61-0d2b7c3e4f12"],
    |text| text
);

/// The files of a request.
pub fn file_paths() -> utoipa::openapi::schema::Array {
    utoipa::openapi::schema::ArrayBuilder::new()
        .items(utoipa::openapi::Ref::from_schema_name("FilePath"))
        .min_items(Some(1))
        .max_items(Some(bounds::FILES))
        .description(Some(
            "The files. Spellings of one file count once. At most 64 KiB of paths together",
        ))
        .build()
}

/// Some of the files of a request.
pub fn interface_changes() -> utoipa::openapi::schema::Array {
    utoipa::openapi::schema::ArrayBuilder::new()
        .schema_type(utoipa::openapi::schema::SchemaType::from_iter([
            Type::Array,
            Type::Null,
        ]))
        .items(utoipa::openapi::Ref::from_schema_name("FilePath"))
        .max_items(Some(bounds::FILES))
        .description(Some(
            "The files whose interface changes; `interface` is about the others",
        ))
        .build()
}

/// `type` of an orchestration command.
pub fn orchestration_command() -> Object {
    one_of(&["orchestration_command"], "Always `orchestration_command`")
}

/// `command` of an orchestration command.
pub fn command() -> Object {
    ObjectBuilder::new()
        .schema_type(utoipa::openapi::schema::SchemaType::from_iter([
            Type::String,
            Type::Null,
        ]))
        .pattern(Some(
            "^(git pull --rebase( --autostash)?( [A-Za-z0-9._/-]+ [A-Za-z0-9._/-]+)?|\
             git push( --force-with-lease)?( (-u )?[A-Za-z0-9._/-]+ HEAD(:[A-Za-z0-9._/-]+)?)?|sleep 5)$",
        ))
        .description(Some(
            "The shell command that carries the action out, or `null`. With `work_branch`, PULL names the remote and \
             the branch that the work is for",
        ))
        .build()
}

/// A string with one of a few values.
pub fn one_of(values: &[&'static str], description: &str) -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(values.iter().copied()))
        .description(Some(description))
        .build()
}

/// An integer of at least `minimum`, such as a count or seconds.
pub fn whole_number(minimum: usize) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(minimum))
}

/// The values of `lock_type`.
pub fn lock_type() -> Object {
    one_of(
        &["DIRECT", "NEIGHBOR", "RESERVED", "WAITING"],
        "DIRECT on a file of the request, NEIGHBOR on one that imports it or that it imports, RESERVED for a claim \
         that was refused before, WAITING if such a claim waits for the file without blocking; absent in a graph",
    )
}

/// Warnings: sentences that begin with a code.
pub fn warnings() -> utoipa::openapi::schema::Array {
    let sentence = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(
            "^(STALE_BRANCH|OFFLINE_MODE|CROSS_BRANCH|NEIGHBOR|BLOCKS_OTHERS|PENDING_INTERFACE|VAGUE_MESSAGE|\
             LOCK_EXPIRED|LOCK_LOST|ALREADY_HELD|TAKEN_OVER|ALREADY_RELEASED|\
             UNCHANGED|GRAPH_STALE|GRAPH_MISSING|HEAD_UNCONFIRMED|CASE_DIFFERS|BREADTH_UNKNOWN|BUDGET_LOW|\
             UNKNOWN_INTENT|NO_LOCK|CONTENT_NOT_KEPT|OWNER_IDLE|\
             INTENT_REQUIRED|INTENT_NOT_ACTIVE|INTENT_BLOCKED|SCOPE_VIOLATION|FILE_OWNED|BUDGET_EXHAUSTED|\
             CIRCUIT_OPEN|LOCK_CONFLICT|\
             UNREAD|SHUTDOWN_REQUESTED|POLICY_INVALID|SHARED_FILE|IGNORED_FILE|INTERFACE_CHANGED|UNKNOWN_FIELD|\
             WHOLE_FILE|MUTUAL_WAIT|PENDING|PENDING_FULL): ",
        ))
        .examples(["STALE_BRANCH: Your branch is behind origin/main."]);
    utoipa::openapi::schema::ArrayBuilder::new()
        .items(sentence)
        .description(Some("Sentences that begin with a code and a colon"))
        .build()
}
