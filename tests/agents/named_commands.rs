//! Every command that a response names is run, in the state of a working copy that it is named for.

use std::path::{Path, PathBuf};

use crate::pushed::shell;
use coord_test_worlds::world::World;

const FILES: [(&str, &str); 2] = [("a.txt", "a\n"), ("b.txt", "b\n")];

/// Makes a world, and the working copy in it.
type Make<'a> = &'a dyn Fn() -> (World, PathBuf);

/// Runs `coord ARGS` in `folder`; returns its output and exit status.
fn coord(world: &World, folder: &Path, args: &[&str]) -> (i32, String) {
    let output = world.coord(folder).args(args).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code().unwrap(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// The command that `printed` names.
fn named(printed: &str) -> Option<&str> {
    printed.lines().find_map(|line| line.strip_prefix("Run: "))
}

/// Runs `coord ARGS` in `folder` and each command that it names, until it is done. The commands.
fn followed(world: &World, folder: &Path, args: &[&str]) -> Vec<String> {
    let mut commands = Vec::new();
    for _ in 0..3 {
        let (status, printed) = coord(world, folder, args);
        if status == 0 {
            return commands;
        }
        let command = named(&printed)
            .unwrap_or_else(|| panic!("{commands:?}: {printed}"))
            .to_owned();
        let ended = world.in_shell(folder, &command);
        let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.success(), "{command}: {errors}; {printed}");
        commands.push(command);
    }
    panic!("{commands:?} lead to nothing");
}

fn claim(world: &World, folder: &Path) {
    let (status, printed) = coord(world, folder, &["claim", "a.txt", "-m", "Change a"]);
    assert_eq!(status, 0, "{printed}");
}

/// A clone with a fork, which the branch `topic` is pushed to.
fn fork() -> (World, PathBuf) {
    let world = World::with(&FILES);
    let folder = world.clone.path().to_owned();
    let fork = world.folder("fork.git").display().to_string();
    shell(
        &world,
        &folder,
        &format!("git clone --quiet --bare \"$(git remote get-url origin)\" '{fork}'"),
    );
    shell(
        &world,
        &folder,
        &format!("git remote add fork '{fork}' && git fetch --quiet fork && git config remote.pushDefault fork"),
    );
    (world, folder)
}

// rule: locks#fitting-command
#[test]
fn the_command_of_push_works_in_every_state() {
    let clone = || {
        let world = World::with(&FILES);
        let folder = world.clone.path().to_owned();
        (world, folder)
    };
    let worktree = || {
        let world = World::with(&FILES);
        let folder = world.worktree("ada").path().to_owned();
        (world, folder)
    };
    let shallow = || {
        let world = World::cloned(&FILES, &["--depth", "1"]);
        let folder = world.clone.path().to_owned();
        (world, folder)
    };
    const CHANGE: &str = "echo changed >a.txt && git commit -qam Change";
    let on_topic = format!("git switch -qc topic && {CHANGE}");
    let cases: [(&str, Make<'_>, String, &[&str]); 11] = [
        ("its own upstream", &clone, CHANGE.to_owned(), &["git push"]),
        ("an upstream of another name", &worktree, CHANGE.to_owned(), &["git push origin HEAD:main"]),
        ("no upstream", &clone, on_topic.clone(), &["git push -u origin HEAD"]),
        ("a shallow clone", &shallow, on_topic.clone(), &["git push -u origin HEAD"]),
        ("detached", &clone, format!("git checkout -q --detach && {CHANGE}"), &["git push origin HEAD:main"]),
        ("a fork", &fork, on_topic.clone(), &["git push -u fork HEAD"]),
        ("the main branch of a fork", &fork, CHANGE.to_owned(), &["git push fork HEAD"]),
        (
            "amended after a push",
            &clone,
            "git switch -qc topic && git commit -q --allow-empty -m Begin && git push -qu origin HEAD && echo changed >a.txt && \
             git commit -qa --amend -m Change"
                .to_owned(),
            &["git push --force-with-lease"],
        ),
        (
            "amended after a push, without an upstream",
            &clone,
            "git switch -qc topic && git commit -q --allow-empty -m Begin && git push -q origin HEAD && echo changed >a.txt && \
             git commit -qa --amend -m Change"
                .to_owned(),
            &["git push --force-with-lease -u origin HEAD"],
        ),
        (
            "nothing is pushed by default",
            &clone,
            format!("git config push.default nothing && {CHANGE}"),
            &["git push origin HEAD"],
        ),
        (
            "dirty",
            &clone,
            format!("{CHANGE} && echo dirty >b.txt"),
            &["git push"],
        ),
    ];
    for (name, make, prepare, commands) in cases {
        let (world, folder) = make();
        claim(&world, &folder);
        shell(&world, &folder, &prepare);
        assert_eq!(followed(&world, &folder, &["release", "a.txt"]), commands, "{name}");
    }
}

#[test]
fn a_branch_that_others_have_pushed_to_is_pulled_first() {
    let world = World::with(&FILES);
    let folder = world.clone.path();
    shell(&world, folder, "git switch -qc topic && git push -qu origin HEAD");
    claim(&world, folder);
    world.others_push("topic", &[("b.txt", "bb\n")]);
    shell(
        &world,
        folder,
        "echo changed >a.txt && git commit -qam Change && git fetch -q",
    );
    assert_eq!(
        followed(&world, folder, &["release", "a.txt"]),
        ["git pull --rebase origin topic", "git push"]
    );
}

#[test]
fn changes_that_are_not_committed_are_to_be_committed_and_no_command_pretends_to_push_them() {
    let world = World::with(&FILES);
    let folder = world.clone.path();
    claim(&world, folder);
    shell(&world, folder, "echo changed >a.txt");
    let (status, printed) = coord(&world, folder, &["release", "a.txt"]);
    assert_eq!(status, 3, "{printed}");
    assert!(
        printed.starts_with("PUSH: ") && printed.contains("Commit and push"),
        "{printed}"
    );
    assert_eq!(named(&printed), None);
}

// rule: locks#fitting-command
#[test]
fn the_command_of_pull_works_in_every_state() {
    let worktree = || {
        let world = World::with(&FILES);
        let folder = world.worktree("ada").path().to_owned();
        (world, folder)
    };
    let cloned = |options: &[&str]| {
        let world = World::cloned(&FILES, options);
        let folder = world.clone.path().to_owned();
        (world, folder)
    };
    let clone = || cloned(&[]);
    let shallow = || cloned(&["--depth", "1"]);
    let (pull, stash, main) = (
        "git pull --rebase",
        "git pull --rebase --autostash",
        "git pull --rebase origin main",
    );
    let cases: [(&str, Make<'_>, &str, &str); 7] = [
        ("its own upstream", &clone, ":", pull),
        ("dirty", &clone, "echo dirty >a.txt", stash),
        ("staged", &clone, "echo x >new && git add new", stash),
        ("an upstream of another name", &worktree, ":", main),
        ("no upstream", &clone, "git switch -qc topic", main),
        ("detached", &clone, "git checkout -q --detach", main),
        ("shallow", &shallow, ":", pull),
    ];
    for (name, make, prepare, command) in cases {
        let (world, folder) = make();
        world.others_push("main", &[("b.txt", "bb\n")]);
        shell(&world, &folder, &format!("{prepare}; git fetch -q"));
        let (_, status) = coord(&world, &folder, &["status"]);
        assert!(status.contains(&format!(": {command}\n")), "{name}: {status}");
        let doctor = coord(&world, &folder, &["doctor"]).1;
        assert!(doctor.contains(&format!("{command}\n")), "{name}: {doctor}");
        let claim = ["claim", "a.txt", "-m", "Change a"];
        assert_eq!(followed(&world, &folder, &claim), [command], "{name}");
    }
}

// rule: locks#during-git
#[test]
fn edits_during_a_merge_or_rebase_are_allowed_and_get_no_pull() {
    for begin in [
        "git merge -q origin/main",
        "git rebase -q origin/main",
        "git cherry-pick origin/main",
    ] {
        let world = World::with(&FILES);
        let folder = world.clone.path();
        world.others_push("main", &[("b.txt", "theirs\n")]);
        let commit = "echo mine >b.txt && git commit -qam Mine && git fetch -q";
        shell(&world, folder, commit);
        world.others_push("main", &[("c.txt", "c\n")]);
        let begun = world.in_shell(folder, begin);
        assert!(!begun.status.success(), "{begin} has a conflict");
        shell(&world, folder, "git fetch -q");
        for args in [
            &["check", "b.txt"][..],
            &["claim", "b.txt", "-m", "Resolve"],
            &["claim", "a.txt", "-m", "Adapt", "--agent", "bob"],
        ] {
            let (status, printed) = coord(&world, folder, args);
            assert_eq!(status, 0, "{begin}: {args:?}: {printed}");
            assert!(!printed.contains("git pull"), "{begin}: {printed}");
        }
        // Another agent's lock counts as ever.
        let (status, printed) = coord(&world, folder, &["claim", "a.txt", "-m", "Adapt"]);
        assert_eq!((status, &printed[..5]), (3, "WAIT:"), "{begin}");
        shell(&world, folder, "echo both >b.txt && git add b.txt");
        let (status, printed) = coord(&world, folder, &["release", "b.txt"]);
        assert_eq!((status, named(&printed)), (3, None), "{begin}: {printed}");
        assert!(printed.contains("--continue`), push, then"), "{begin}: {printed}");
    }
}

#[test]
fn the_command_that_makes_a_branch_known_works_in_a_single_branch_clone() {
    let world = World::cloned(&FILES, &["--single-branch"]);
    let folder = world.clone.path();
    world.origin().git(&["branch", "release", "main"]);
    let mend = |branch: &str| {
        let (status, printed) = coord(&world, folder, &["doctor", "--branch", branch]);
        assert_eq!(status, 1, "{printed}");
        let line = printed
            .lines()
            .skip_while(|line| !line.starts_with("error  head"))
            .nth(1);
        line.unwrap_or_else(|| panic!("{printed}")).trim().to_owned()
    };
    let follow = "git remote set-branches --add origin release && git fetch origin";
    assert_eq!(mend("release"), follow);
    shell(&world, folder, follow);
    let claim = ["claim", "a.txt", "-m", "Change a", "--branch", "release"];
    assert_eq!(coord(&world, folder, &claim).0, 0);
    let list = mend("nowhere");
    assert_eq!(list, "git ls-remote --heads origin");
    shell(&world, folder, &list);
    let claim = ["claim", "a.txt", "-m", "Change a", "--branch", "nowhere"];
    let (_, refused) = coord(&world, folder, &claim);
    assert!(!refused.contains("git config coord.branch"), "{refused}");
}

/// The background command that WAIT names ends when the file is free, in any folder and for any caller.
// rule: hooks#wait
#[test]
fn the_command_of_wait_works_from_every_folder_and_for_every_name() {
    let odd = "docs/it's a -f.txt";
    let world = World::with(&[("a.txt", "a\n"), (odd, "b\n"), ("-d.txt", "d\n"), ("docs/c.txt", "c\n")]);
    let (root, docs) = (world.clone.path().to_owned(), world.clone.path().join("docs"));
    let cases: [(&Path, &str, &str); 4] = [
        (&root, "a.txt", "coord wait a.txt --agent two"),
        (&root, odd, r"coord wait 'docs/it'\''s a -f.txt' --agent two"),
        (&root, "./-d.txt", "coord wait ./-d.txt --agent two"),
        (&docs, "c.txt", "coord wait c.txt --agent two"),
    ];
    for (folder, file, expected) in cases {
        let claim = |who: &str| coord(&world, folder, &["claim", file, "-m", "Change it", "--agent", who]);
        assert_eq!(claim("one").0, 0, "{file}");
        let (status, printed) = claim("two");
        let command = printed
            .lines()
            .find_map(|line| line.strip_prefix("Run in the background: "));
        assert_eq!((status, command), (3, Some(expected)), "{printed}");
        let (program, path) = (
            world.coord(folder).get_program().to_owned(),
            std::env::var("PATH").unwrap(),
        );
        let program = Path::new(&program).parent().unwrap().display().to_string();
        let (ended, released) = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| world.in_shell(folder, &format!("PATH='{program}:{path}'; {expected}")));
            // time: the command waits when the file is released.
            std::thread::sleep(std::time::Duration::from_millis(500));
            let released = coord(&world, folder, &["release", file, "--abandon", "--agent", "one"]);
            (waiting.join().unwrap(), released)
        });
        assert_eq!(released.0, 0, "{}", released.1);
        assert!(ended.status.success(), "{expected}: {ended:?}");
        assert_eq!(claim("one").0, 3, "{file} is held by the one that has waited");
    }
    // Too many files to be named.
    let files: Vec<String> = (0..9).map(|file| format!("new-{file}.txt")).collect();
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let claim = |who: &str| {
        let args = [&["claim", "-m", "Add them", "--agent", who], &names[..]].concat();
        coord(&world, &root, &args)
    };
    assert_eq!(claim("one").0, 0);
    assert_eq!(named(&claim("two").1), Some("sleep 5"));
}
