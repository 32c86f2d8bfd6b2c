//! The additions of the extensions of this build to the state, a row each. No other file of the heart names one.

use super::extension::Extension;

/// The extensions of this build.
pub(crate) static EXTENSIONS: &[Extension] = &[
    #[cfg(feature = "intents")]
    super::intents::extension::EXTENSION,
    #[cfg(feature = "teams")]
    super::teams::extension::EXTENSION,
];
