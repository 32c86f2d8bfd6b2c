//! The bounds of a folder's contents. Coord refuses each file or value that exceeds its bound, and never truncates it.

/// Bytes of `config.json`.
pub const CONFIG_BYTES: usize = 4 << 20;
/// Bytes of a task's file: texts of 16 KiB with all characters escaped, 512 ids, and unknown members.
pub const TASK_BYTES: usize = 1 << 20;
/// Bytes of an inbox. It is large, because the plugin never removes a message.
pub const INBOX_BYTES: usize = 32 << 20;
/// Messages of an inbox's file.
pub const INBOX_MESSAGES: usize = 100_000;
/// Levels of arrays and objects in a file.
pub const DEPTH: usize = 32;
/// Files in a team's folder of tasks: 20,000 open tasks, and the newest 10,000 completed ones.
pub const TASK_FILES: usize = 30_000;
/// Members of a team.
pub const MEMBERS: usize = 1_000;
pub const TITLE_CHARACTERS: usize = 200;
/// Bytes of a description, and of a message.
pub const TEXT_BYTES: usize = 16 << 10;
/// Dependencies of a task.
pub const DEPENDENCIES: usize = 256;
/// Characters of a team's name, a handle and the id of a task.
pub const NAME_CHARACTERS: usize = 64;
