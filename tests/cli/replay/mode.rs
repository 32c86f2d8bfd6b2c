//! Policies of runs.

use coord_settings::policy::file::PolicyFile;
use coord_test_worlds::replay::mode::Mode;

#[test]
fn every_policy_is_one_that_the_server_takes() {
    for mode in Mode::all() {
        PolicyFile::parse(mode.policy().as_bytes()).unwrap_or_else(|problem| panic!("{mode}: {problem:?}"));
    }
}
