//! Policies of runs.

use super::bench::mode::Mode;
use coord_settings::policy::file::PolicyFile;

#[test]
fn every_policy_is_one_that_the_server_takes() {
    for mode in Mode::all() {
        PolicyFile::parse(mode.policy().as_bytes()).unwrap_or_else(|problem| panic!("{mode}: {problem:?}"));
    }
}
