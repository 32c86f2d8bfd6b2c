use std::path::PathBuf;

use super::*;

fn found(command: &str) -> Effects {
    effects(command, Path::new("/w"))
}

/// The files that `command` writes, without the folder that it runs in.
fn writes(command: &str) -> Vec<String> {
    let writes = found(command).writes;
    let shown = writes
        .iter()
        .map(|path| path.strip_prefix("/w").unwrap_or(path).display());
    shown.map(|path| path.to_string()).collect()
}

#[test]
fn files_that_a_command_plainly_writes_are_found() {
    for (command, files) in [
        ("echo a > b.txt", &["b.txt"][..]),
        ("echo a>b.txt; cat c >>d", &["b.txt", "d"]),
        ("[[ -f a ]] > b.txt; coproc tee c", &["b.txt", "c"]),
        ("make 2>&1 &> log", &["log"]),
        ("make 2>err.log", &["err.log"]),
        ("make >/dev/shm/w/log", &["/dev/shm/w/log"]),
        ("cat <<'EOF' > 'my file.rs'\n$x > no\nEOF", &["my file.rs"]),
        ("sed -i 's/a/b/' x.rs y.rs", &["x.rs", "y.rs"]),
        ("sed -i.bak -e 's/a/b/' x.rs", &["x.rs"]),
        ("sed -i '' 's/a/b/' x.rs", &["x.rs"]),
        ("sed --in-place=.bak --expression=s/a/b/ x.rs", &["x.rs"]),
        ("sed -ne 's/a/b/p' x.rs", &[]),
        ("sed 's/i/b/' x.rs", &[]),
        ("perl -pi -e 's/a/b/' x.rs", &["x.rs"]),
        ("perl -i.bak -pe 's/a/b/' x.rs", &["x.rs"]),
        ("perl -e 'print 1' x", &[]),
        ("ls | tee -a a.log b.log", &["a.log", "b.log"]),
        ("make > >(tee a.log) 2> >(cd b; tee c.log)", &["a.log", "b/c.log"]),
        ("while read x; do echo; done < <(ls | tee a.log)", &["a.log"]),
        ("mv a.rs b.rs", &["a.rs", "b.rs"]),
        ("mv a.rs b.rs dir/", &["a.rs", "dir/a.rs", "b.rs", "dir/b.rs"]),
        ("cp -t dir a.rs", &["dir"]),
        ("cp a.rs b.rs", &["b.rs"]),
        ("rm -rf -- a.rs -b.rs", &["a.rs", "-b.rs"]),
        ("truncate -s 0 a.rs", &["a.rs"]),
        ("dd if=/dev/zero of=disk.img bs=1M", &["disk.img"]),
        ("patch -p1 a.rs < fix.diff", &["a.rs"]),
        ("patch -p1 < fix.diff", &[]),
        ("git checkout -- a.rs b.rs", &["a.rs", "b.rs"]),
        ("git checkout HEAD~1 -- a.rs", &["a.rs"]),
        ("git restore --source=HEAD~1 a.rs", &["a.rs"]),
        ("git restore --staged a.rs", &[]),
        ("git rm -f a.rs && git mv b.rs c.rs", &["a.rs", "b.rs", "c.rs"]),
        ("git rm --cached a.rs", &[]),
        ("git -C sub rm a.rs", &["sub/a.rs"]),
        ("cd sub && rm a.rs", &["sub/a.rs"]),
        ("(cd sub; rm a.rs); rm b.rs", &["sub/a.rs", "b.rs"]),
        ("cd \"$X\" && rm a.rs /abs/b.rs", &["/abs/b.rs"]),
        ("bash -lc \"sed -i s/a/b/ x.rs\"", &["x.rs"]),
        ("sudo env A=1 rm a.rs", &["a.rs"]),
        ("timeout -k 5 10 rm a.rs", &[]),
        ("timeout 10 rm a.rs", &["a.rs"]),
        ("if true; then rm a.rs; else rm b.rs; fi", &["a.rs", "b.rs"]),
        ("for f in a b; do rm \"$f\" c.rs; done", &["c.rs"]),
        (
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.rs\n*** End Patch\nEOF",
            &["a.rs"],
        ),
        (
            "rm \"with \\\"quote\\\".rs\" a\\ b.rs",
            &["with \"quote\".rs", "a b.rs"],
        ),
    ] {
        assert_eq!(writes(command), files, "{command}");
    }
}

#[test]
fn words_that_the_shell_replaces_name_no_file() {
    for command in [
        "rm *.rs",
        "rm $FILE",
        "rm \"${FILE}\"",
        "echo > $(mktemp)",
        "echo > `mktemp`",
        "rm {a,b}.rs",
        "rm ~/x",
        "echo x > /dev/null 2>&1",
        "echo 'rm a.rs'",
        "grep '>' a.rs",
        "cat < a.rs",
        "f() { rm a.rs; }",
        "rm a.rs'",
        "",
    ] {
        assert_eq!(writes(command), [""; 0], "{command}");
    }
}

#[test]
fn changes_of_a_whole_working_copy_are_found_with_its_folder() {
    for (command, change) in [
        ("git checkout main", "/w git checkout"),
        ("git checkout -b new", "/w git checkout"),
        ("git -C /x switch main", "/x git switch"),
        ("cd sub && git stash", "/w/sub git stash"),
        ("git stash pop", "/w git stash"),
        ("git reset --hard HEAD~1", "/w git reset --hard"),
        ("git pull --rebase", "/w git pull"),
        ("git merge topic", "/w git merge"),
        ("git rebase main", "/w git rebase"),
        ("git clean -fdx", "/w git clean"),
        ("git stash list", ""),
        ("git reset HEAD a.rs", ""),
        ("git clean -n", ""),
        ("git commit -m 'git checkout'", ""),
        ("git log", ""),
    ] {
        let tree_changes = found(command).tree_changes;
        let shown = tree_changes
            .iter()
            .map(|change| format!("{} {}", change.folder.display(), change.command));
        assert_eq!(shown.collect::<Vec<_>>().join(", "), change, "{command}");
    }
}

#[test]
fn pushes_are_found_with_their_folder() {
    for (command, folders) in [
        ("git commit -am x && git push", &["/w"][..]),
        ("git -C /x push origin main; cd sub && git push", &["/x", "/w/sub"]),
        ("git push --dry-run", &[]),
        ("echo git push", &[]),
    ] {
        let folders: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
        assert_eq!(found(command).pushes, folders, "{command}");
    }
}

#[test]
fn a_command_that_is_hard_to_read_is_left_alone_in_time() {
    let started = std::time::Instant::now();
    assert_eq!(found(&"(".repeat(20_000)), Effects::unknown());
    assert_eq!(found(&format!("{} rm a.rs", "$((".repeat(40))), Effects::unknown());
    assert_eq!(found(&"x".repeat(MAX_BYTES + 1)), Effects::unknown());
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn changing_commands_are_distinguished_from_reads_and_from_coords_own_advice() {
    for command in [
        "ls -la; cat a.rs | head -n 5",
        "grep -rn x src && git status --short",
        "cd sub && git log -1 -- a.rs",
        "sleep 5",
        "git pull --rebase && git push",
        "git push --set-upstream origin topic",
        "coord claim a.rs && coord intent select x",
        "sed -n 1,5p a.rs",
        "find . -name '*.rs' | wc -l",
        "true > /dev/null 2>&1",
    ] {
        assert!(!found(command).changes, "{command}");
    }
    for command in [
        "make",
        "python -c 'open(1)'",
        "cat a.rs > b.rs",
        "echo $(rm a.rs)",
        "$X a",
        "git commit -am x",
        "git pull",
        "git diff --output=a.rs",
        "find . -delete",
        "sed -n 'w b.rs' a.rs",
        "sort -o a.rs a.rs",
        "if",
        "f() { rm a; }; f",
        "bash x.sh",
        "rg --pre ./x a",
        "echo a > \"$X\"",
    ] {
        assert!(found(command).changes, "{command}");
    }
    assert!(found(&"(".repeat(100)).changes);
}

#[test]
fn files_that_a_command_shows_are_found() {
    let reads = |command: &str| {
        let reads = found(command).reads;
        reads.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    for (command, files) in [
        ("cat a.rs b.rs", &["/w/a.rs", "/w/b.rs"][..]),
        ("head -n 5 a.rs", &["/w/a.rs"]),
        ("sed -n '1,5p' a.rs", &["/w/a.rs"]),
        ("sed -n -e 1p a.rs", &["/w/a.rs"]),
        ("grep -n x a.rs", &["/w/a.rs"]),
        ("cd sub; cat < a.rs", &["/w/sub/a.rs"]),
        ("echo a.rs", &[]),
        ("cat $X", &[]),
    ] {
        assert_eq!(reads(command), files, "{command}");
    }
}

#[test]
fn acts_of_a_person_are_found_in_commands_and_in_requests() {
    for command in [
        "coord intent unblock i-1",
        "env -u COORD_AGENT ./coord intent --json unblock i-1",
        "bash -c 'coord intent allow a b'",
        "coord intent complete i-1 --force --reason x",
        "coord intent edit i-1 --max-turns=900",
        "coord release --force src/db.ts --reason x",
        "curl -d '{\"force\": true}' http://127.0.0.1:1/api/post_status",
        "curl -X POST https://coord.example.com/api/intents/i-1/unblock -d '{}'",
        "curl -d '{\"force\":true}' \"$COORD_URL/api/intents/i-1/complete\"",
        "python3 -c 'post(\"http://127.0.0.1:1/api/intents/x/take_over\")'",
    ] {
        assert!(found(command).person_act.is_some(), "{command}");
    }
    for command in [
        "coord intent complete i-1",
        "coord release src/force.ts",
        "coord intent edit i-1 --name allow",
        "coord intent list unblock-me",
        "curl https://coord.example.com/api/intents/unblock-me",
        "curl -X POST https://coord.example.com/api/intents/i-1/select",
        "grep unblock src",
    ] {
        assert_eq!(found(command).person_act, None, "{command}");
    }
}

#[test]
fn a_redirection_to_a_quoted_name_is_a_write_and_to_an_unknown_name_a_change() {
    for command in [
        "> $'a.rs'",
        ">| $\"a.rs\"",
        "&> $'a.rs'",
        "&>> $'a.rs'",
        ">> $'a.rs'",
        ">& $'a.rs'",
    ] {
        let effects = found(&format!("echo x {command}"));
        assert_eq!(effects.writes, [PathBuf::from("/w/a.rs")], "{command}");
    }
    for command in ["> $'a\\x2ers'", "&> $NAME", ">& ~/a", ">> {a,b}", "&>> $'a\\tb'"] {
        let effects = found(&format!("echo x {command}"));
        assert!(effects.changes, "{command}");
    }
}
