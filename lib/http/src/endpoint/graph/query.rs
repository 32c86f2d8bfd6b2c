//! The query of a request for a graph.

use std::borrow::Cow;

use coord_graph::Direction;
use serde::Deserialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{IntoParams, ToSchema};

use coord_auth::{Caller, CallerIdentity};
use coord_domain::{Branch, FilePath, RepoId};
use coord_protocol::schema::{self, RepoUrl};
use coord_server::error::ApiError;
use coord_server::operations::fields::{in_field, parse_repository, parse_required};

/// Maximum steps from a focus.
pub(super) const MAX_DEPTH: u32 = 32;

/// The query as sent.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GraphQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
    /// The branch.
    #[param(value_type = schema::Branch, example = "main")]
    branch: Option<String>,
    /// Form of the edges: objects (the default), or pairs of indices into `nodes`.
    #[param(value_type = Format, inline, required = false)]
    format: Option<String>,
    /// A file: the response is the part of the graph around it, of 2,000 files at most.
    #[param(value_type = schema::FilePath, required = false)]
    focus: Option<String>,
    /// Maximum steps from `focus`; 1 by default. Not valid without `focus`.
    #[param(value_type = u32, required = false, maximum = 32)]
    depth: Option<String>,
    /// Direction from `focus`; both by default. Not valid without `focus`.
    #[param(value_type = DirectionName, inline, required = false)]
    direction: Option<String>,
}

/// The name of a [`Direction`], for the OpenAPI document.
pub(super) enum DirectionName {}

impl utoipa::PartialSchema for DirectionName {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("Direction from a file."))
            .enum_values(Some(Direction::ALL.map(Direction::name)))
            .into()
    }
}

impl ToSchema for DirectionName {
    fn name() -> Cow<'static, str> {
        "Direction".into()
    }
}

/// Form of the edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(as = GraphFormat, rename_all = "lowercase")]
pub(super) enum Format {
    /// `{"source", "target", "type", "kinds"}`.
    Full,
    /// Pairs of indices into `nodes`.
    Compact,
}

/// The part of a graph around one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Focus {
    pub(super) path: FilePath,
    pub(super) depth: u32,
    pub(super) direction: Direction,
}

/// The parsed query.
#[derive(Debug)]
pub(super) struct ValidQuery {
    pub(super) caller: CallerIdentity,
    pub(super) repo: RepoId,
    pub(super) branch: Branch,
    pub(super) format: Format,
    pub(super) focus: Option<Focus>,
}

impl GraphQuery {
    /// The same query, around the file `path`.
    #[must_use]
    pub fn around(self, path: String) -> Self {
        GraphQuery {
            focus: Some(path),
            ..self
        }
    }

    pub(super) fn parse(&self, caller: Caller) -> Result<ValidQuery, ApiError> {
        let (repo, caller) = parse_repository(&self.repo_url, caller)?;
        Ok(ValidQuery {
            caller,
            repo,
            branch: parse_required("branch", &self.branch, Branch::parse)?,
            format: match self.format.as_deref() {
                None | Some("full") => Format::Full,
                Some("compact") => Format::Compact,
                Some(_) => return Err(ApiError::invalid_field("format", "must be full or compact")),
            },
            focus: self.parse_focus()?,
        })
    }

    fn parse_focus(&self) -> Result<Option<Focus>, ApiError> {
        let Some(path) = &self.focus else {
            let unused = [("depth", &self.depth), ("direction", &self.direction)];
            return match unused.iter().find(|(_, value)| value.is_some()) {
                Some((field, _)) => Err(ApiError::invalid_field(field, "needs a focus: the path of a file")),
                None => Ok(None),
            };
        };
        let depth = match &self.depth {
            None => 1,
            Some(text) => text.parse().ok().filter(|depth| *depth <= MAX_DEPTH).ok_or_else(|| {
                ApiError::invalid_field("depth", format!("must be a whole number from 0 to {MAX_DEPTH}"))
            })?,
        };
        let direction = match self.direction.as_deref() {
            None | Some("both") => Direction::Both,
            Some("imports") => Direction::Imports,
            Some("importers") => Direction::Importers,
            Some(_) => {
                let problem = "must be both, imports or importers";
                return Err(ApiError::invalid_field("direction", problem));
            }
        };
        Ok(Some(Focus {
            path: FilePath::parse(path).map_err(in_field("focus"))?,
            depth,
            direction,
        }))
    }
}
