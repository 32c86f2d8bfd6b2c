//! `.intentignore` of the head, kept with the graph.

use crate::world::{World, files};

const FILE: &str = ".intentignore";

impl World {
    /// `.intentignore` as stored, and its digest.
    async fn ignore(&self) -> (Option<String>, Option<String>) {
        (self.field("ignore").await, self.field("ignore_digest").await)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_at_the_root_is_stored_with_each_graph_and_read_once_for_each_content() {
    let mut world = World::new(files(&[("a.ts", "1"), ("src/.intentignore", "b.ts")]));
    assert_eq!(world.build().await, 1, "that of a folder is none");
    assert_eq!(world.ignore().await, (None, None));

    world.source.write(FILE, "*.lock\n!keep.lock\n");
    assert_eq!(world.build().await, 1, "published as a patch");
    let (text, digest) = world.ignore().await;
    assert_eq!(text.as_deref(), Some("*.lock\n!keep.lock\n"));
    assert_eq!(
        digest.as_deref(),
        Some("ee7da8546476208448c68eb28b7c1de05818df605afc41b16dc9a9b391a13dde")
    );

    world.source.write("a.ts", "2");
    assert_eq!(world.build().await, 1, "a.ts alone");
    assert_eq!(world.ignore().await, (text.clone(), digest.clone()));
    world.source.write("a.ts", "3");
    assert_eq!(world.build_after_restart().await, 2, "published in full");
    assert_eq!(world.ignore().await, (text, digest));

    world.source.write(FILE, "");
    world.build().await;
    assert_eq!(world.ignore().await.0.as_deref(), Some(""), "an empty file is one");
    world.source.delete(FILE);
    world.build().await;
    assert_eq!(world.ignore().await, (None, None));
    world.source.write(FILE, "a.ts");
    world.build_after_restart().await;
    world.source.delete(FILE);
    world.build_after_restart().await;
    assert_eq!(world.ignore().await, (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_too_long_is_stored_as_one_that_cannot_be_read() {
    let longest = "#".repeat(64 * 1024);
    let mut world = World::new(files(&[(FILE, &longest)]));
    world.build().await;
    assert_eq!(world.ignore().await.0, Some(longest.clone()));
    world.source.write(FILE, &format!("{longest}#"));
    world.build().await;
    let (text, digest) = world.ignore().await;
    assert_eq!(text.as_deref(), Some(""));
    assert_eq!(
        digest.as_deref(),
        Some("unreadable: it has 65537 bytes; at most 65536 are allowed")
    );
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_link_of_that_name_is_not_followed() {
    let digest = World::of_a_link(FILE, "a.ts").await.ignore().await.1;
    assert_eq!(digest.as_deref(), Some("unreadable: it is not a regular file"));
}
