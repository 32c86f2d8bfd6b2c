use std::time::SystemTime;

/// How a source is, as far as that is known without asking it anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceHealth {
    /// It answers.
    Ok,
    /// It has not been asked yet.
    #[default]
    Unknown,
    /// It takes no questions for now.
    Limited {
        /// When it does again.
        until: SystemTime,
    },
    /// It gave no answer, or a repository cannot be read.
    Unreachable,
    /// It cannot be used as it is set up.
    NotConfigured,
}

impl SourceHealth {
    /// The worst of several; one that has not been asked yet says nothing beside one that answers.
    pub fn worst(all: impl IntoIterator<Item = SourceHealth>) -> SourceHealth {
        let rank = |health: &SourceHealth| match health {
            SourceHealth::Unknown => 0,
            SourceHealth::Ok => 1,
            SourceHealth::Limited { .. } => 2,
            SourceHealth::Unreachable => 3,
            SourceHealth::NotConfigured => 4,
        };
        all.into_iter().max_by_key(rank).unwrap_or_default()
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
