//! The shapes of hostile repositories, each of which is a test.

use coord_test_support::skipping::skip;

use super::shapes;

/// A test for each shape. A function of `shapes` that is not here is never used, which the compiler reports.
macro_rules! hold {
    ($($shape:ident)*) => { $(
        #[test]
        fn $shape() {
            super::hold(shapes::$shape);
        }
    )* };
}

hold! {
    a_bare_repository_that_is_the_current_folder
    a_folder_of_coord_from_an_archive
    a_folder_of_coord_with_a_store_that_is_none
    a_git_file_that_leads_elsewhere
    a_git_file_that_leads_to_tracked_files
    a_git_folder_that_names_a_server_elsewhere
    a_git_folder_that_names_a_server_of_this_machine
    a_git_folder_that_names_no_server
    a_repository_inside_of_another_one
    around_a_submodule
    files_of_agents
    pipes_in_place_of_files_of_git
    settings_of_a_worktree
    settings_that_are_included
    tracked_files_like_a_git_folder
}

#[test]
fn a_folder_of_coord_of_another_user() {
    match rustix::process::geteuid().is_root() {
        true => super::hold(shapes::a_folder_of_coord_of_another_user),
        false => skip("only root gives files to another user"),
    }
}
