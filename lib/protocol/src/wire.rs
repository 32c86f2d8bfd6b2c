//! The macro that declares the types of the wire.

/// Declares structs of the wire.
///
/// The JSON omits a field that is `None`. Each field's type may have a keyword in front. `T` is the type in the schema,
/// and `R` the type in Rust, if they differ:
///
/// - `required T as R`: callers must send it. It is an `Option`, so that the server can say which field is missing.
/// - `optional T as R`: callers may omit it, or send `null`.
/// - `maybe T as R`: a response may omit it, and never has `null`.
/// - `nullable T as R`: a response always has it, and has `null` for `None`.
///
/// A name without a type is a field that many requests share. They are not a struct with `#[serde(flatten)]`: serde
/// buffers a flattened struct, so that errors no longer name the field, and nobody notices unknown fields.
macro_rules! wire {
    ($($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* })*) => {
        $(wire!(@ [$(#[$meta])* $name] {} $($fields)*);)*
    };
    (@ [$(#[$meta:meta])* $name:ident] { $($fields:tt)* }) => {
        #[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize, utoipa::ToSchema)]
        $(#[$meta])*
        pub struct $name { $($fields)* }
    };
    (@ $head:tt $done:tt repo_url, $($rest:tt)*) => {
        wire!(@ $head $done
            /// The repository.
            pub repo_url: required crate::schema::RepoUrl as String,
            $($rest)*);
    };
    (@ $head:tt $done:tt agent_id, $($rest:tt)*) => {
        wire!(@ $head $done
            /// The calling agent, if one person runs several; overrides the header `X-Coord-Agent`.
            pub agent_id: optional crate::schema::AgentId as String,
            $($rest)*);
    };
    (@ $head:tt $done:tt work_branch, $($rest:tt)*) => {
        wire!(@ $head $done
            /// The branch that the caller commits to, if it is not `branch`: OPEN then expects the work there.
            pub work_branch: optional crate::schema::Branch as String,
            $($rest)*);
    };
    (@ $head:tt $done:tt base_head, $($rest:tt)*) => {
        wire!(@ $head $done
            /// The newest commit of the remote branch that the working copy contains (`git merge-base HEAD origin/BRANCH`):
            /// proves that unpushed commits are not behind.
            pub base_head: optional crate::schema::CommitId as String,
            $($rest)*);
    };
    (@ $head:tt $done:tt $(#[$meta:meta])* pub $field:ident: required $type:ty as $rust:ty, $($rest:tt)*) => {
        wire!(@ $head $done
            #[schema(value_type = $type, required = true)]
            $(#[$meta])*
            pub $field: Option<$rust>,
            $($rest)*);
    };
    (@ $head:tt $done:tt $(#[$meta:meta])* pub $field:ident: optional $type:ty as $rust:ty, $($rest:tt)*) => {
        wire!(@ $head $done
            #[schema(value_type = Option<$type>)]
            $(#[$meta])*
            pub $field: Option<$rust>,
            $($rest)*);
    };
    (@ $head:tt $done:tt $(#[$meta:meta])* pub $field:ident: maybe $type:ty as $rust:ty, $($rest:tt)*) => {
        wire!(@ $head $done
            #[serde(default)]
            #[schema(value_type = $type, required = false)]
            $(#[$meta])*
            pub $field: Option<$rust>,
            $($rest)*);
    };
    (@ $head:tt $done:tt $(#[$meta:meta])* pub $field:ident: maybe $type:ty, $($rest:tt)*) => {
        wire!(@ $head $done
            #[serde(default)]
            #[schema(required = false, nullable = false)]
            $(#[$meta])*
            pub $field: Option<$type>,
            $($rest)*);
    };
    (@ $head:tt { $($done:tt)* } $(#[$meta:meta])* pub $field:ident: nullable $type:ty as $rust:ty, $($rest:tt)*) => {
        wire!(@ $head {
            $($done)*
            #[schema(value_type = Option<$type>, required = true)]
            $(#[$meta])*
            pub $field: Option<$rust>,
        } $($rest)*);
    };
    (@ $head:tt { $($done:tt)* } $(#[$meta:meta])* pub $field:ident: nullable $type:ty, $($rest:tt)*) => {
        wire!(@ $head { $($done)* #[schema(required = true)] $(#[$meta])* pub $field: Option<$type>, } $($rest)*);
    };
    (@ $head:tt { $($done:tt)* } $(#[$meta:meta])* pub $field:ident: Option<$type:ty>, $($rest:tt)*) => {
        wire!(@ $head {
            $($done)*
            #[serde(skip_serializing_if = "Option::is_none")]
            $(#[$meta])*
            pub $field: Option<$type>,
        } $($rest)*);
    };
    (@ $head:tt { $($done:tt)* } $(#[$meta:meta])* pub $field:ident: $type:ty, $($rest:tt)*) => {
        wire!(@ $head { $($done)* $(#[$meta])* pub $field: $type, } $($rest)*);
    };
}
