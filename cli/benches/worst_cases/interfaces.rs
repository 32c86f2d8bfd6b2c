//! Locks for writing whose holders keep the interfaces of the files.

use coord_domain::LockMode::Writing;

use crate::cases::{Act, Case, MOST, State, all_import, files, held, short, state};

pub fn cases() -> Vec<Case> {
    let case = |name, state, act, answer| Case {
        name,
        state,
        act,
        answer: Some(answer),
    };
    let many = files("held", MOST);
    let hub = vec!["src/hub.ts".to_owned()];
    let kept = files("requested", 512);
    let near = &many[..190];
    // So that many have room in a notice.
    let broken: Vec<String> = (0..32).map(short).collect();
    let written =
        |paths: &[String], others| -> Vec<_> { paths.iter().map(|path| (path.clone(), others, true)).collect() };
    vec![
        case(
            "interfaces: claim of a hub, all of whose 9,999 importers are written and keep theirs",
            State {
                keeps: true,
                // As many bytes as a lock may have that counts once.
                message: "\"".repeat(500),
                ..state(written(&many[..MOST - 1], 1), all_import(&many, &hub))
            },
            Act::Claim(Writing, hub.clone()),
            "Claimed",
        ),
        case(
            "interfaces: release of 500 kept files of 190 importers each",
            State {
                keeps: true,
                own: 500,
                ..state(written(&kept[..500], 0), all_import(near, &kept[..500]))
            },
            Act::Release(kept[..500].to_vec()),
            "500 released, 500 to be compared",
        ),
        case(
            "interfaces: 32 files, as many as are told of at once, have broken it, which 190 held files with 21 readers each import",
            state(held(near, 21), all_import(near, &broken)),
            Act::Tell(broken),
            "127680 told",
        ),
    ]
}
