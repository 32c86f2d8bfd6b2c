//! Events about intents.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::intents::IntentStatus;
use crate::schema::{AgentId, Branch, FilePath, IntentId};

wire! {
    /// An intent that was written or changed.
    pub struct IntentChange {
        /// Verified login of the caller.
        pub user: String,
        /// The caller's display name; the login if none is known.
        pub user_name: String,
        /// The agent of the caller.
        pub agent_id: maybe AgentId as String,
        /// The intent.
        #[schema(value_type = IntentId)]
        pub intent_id: String,
        /// Its status.
        pub status: IntentStatus,
        /// Its status before; absent where that has not changed.
        pub previous: maybe IntentStatus,
        /// Why.
        pub reason: maybe String,
        /// When it happened, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
        /// The same in milliseconds.
        #[schema(minimum = 0)]
        pub time_ms: i64,
    }
}

/// Two intents that may overlap.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct OverlapAllowed {
    /// Verified login of the person.
    pub user: String,
    /// The person's display name; the login if none is known.
    pub user_name: String,
    /// The intent.
    #[schema(value_type = IntentId)]
    pub intent_id: String,
    /// The other.
    #[schema(value_type = IntentId)]
    pub other: String,
    /// When it happened, Unix seconds.
    #[schema(minimum = 0)]
    pub time: i64,
    /// The same in milliseconds.
    #[schema(minimum = 0)]
    pub time_ms: i64,
}

wire! {
    /// Files that have another owner.
    pub struct FilesTakenOver {
        /// Verified login of the person.
        pub user: String,
        /// The person's display name; the login if none is known.
        pub user_name: String,
        /// The owner.
        #[schema(value_type = IntentId)]
        pub intent_id: String,
        /// The owner of the first of them before; absent where they had none.
        pub previous: maybe IntentId as String,
        /// The branch of the intent; absent for every branch.
        pub branch: maybe Branch as String,
        /// The files: 20 at most, of 1 KiB together.
        #[schema(min_items = 1, max_items = 20)]
        pub files: maybe Vec<FilePath> as Vec<String>,
        /// Number of files.
        #[schema(minimum = 1)]
        pub file_count: u32,
        /// When it happened, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
        /// The same in milliseconds.
        #[schema(minimum = 0)]
        pub time_ms: i64,
    }
}
