use std::time::SystemTime;

/// The health of a source, known without a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceHealth {
    Ok,
    /// No request was sent yet.
    #[default]
    Unknown,
    /// Its rate limit is used up.
    Limited {
        /// End of the limit.
        until: SystemTime,
    },
    /// It did not respond, or a repository cannot be read.
    Unreachable,
    /// Its settings are missing or wrong.
    NotConfigured,
}

impl SourceHealth {
    /// The worst of several. A source without a request yet does not hide one that responds.
    pub fn worst(healths: impl IntoIterator<Item = SourceHealth>) -> SourceHealth {
        let rank = |health: &SourceHealth| match health {
            SourceHealth::Unknown => 0,
            SourceHealth::Ok => 1,
            SourceHealth::Limited { .. } => 2,
            SourceHealth::Unreachable => 3,
            SourceHealth::NotConfigured => 4,
        };
        healths.into_iter().max_by_key(rank).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_several_counts() {
        use SourceHealth::{NotConfigured, Ok, Unknown, Unreachable};
        assert_eq!(SourceHealth::worst([]), Unknown);
        assert_eq!(SourceHealth::worst([Ok, Unknown]), Ok);
        assert_eq!(SourceHealth::worst([Ok, Unreachable, Unknown]), Unreachable);
        assert_eq!(SourceHealth::worst([NotConfigured, Unreachable]), NotConfigured);
    }
}
