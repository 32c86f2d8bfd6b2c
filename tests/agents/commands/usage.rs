//! The messages that a wrong call gets.

use super::{parts, world};

#[test]
fn a_usage_error_names_the_missing_argument_in_the_style_of_all_errors() {
    let world = world();
    let usage_error = |agent: &str, words: &[&str]| {
        let mut command = world.coord(world.clone.path());
        command
            .env("COORD_AGENT", agent)
            .env("COORD_BRANCH", "main")
            .args(words);
        let (code, out, error) = parts(&command.output().unwrap());
        assert_eq!((code, out.as_str()), (2, ""), "{error}");
        error
    };
    // An agent is named by the variable, so that nobody has to type it.
    for agent in ["", "ada"] {
        assert_eq!(
            usage_error(agent, &["claim", "src/db.ts"]),
            "coord: the following required arguments were not provided:\n  --message <MESSAGE>\n\n\
             Usage: coord claim --message <MESSAGE> <PATH>...\n\nFor more information, try '--help'.\n"
        );
    }
    let error = usage_error("ada", &["clam"]);
    assert!(error.starts_with("coord: unrecognized subcommand 'clam'\n"), "{error}");
    assert!(error.contains("a similar subcommand exists: 'claim'"), "{error}");
}
