//! The core: what a build without extensions does. These tests hold in every build; `.ci/check-core` runs them in the one that has
//! none.

mod names;
mod scripts;
mod work;
