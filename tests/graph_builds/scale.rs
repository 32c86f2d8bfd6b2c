//! Large repositories.

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_of_four_thousand_files_is_built_and_follows_an_edit() {
    is_built_and_follows_an_edit(4_000).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute alone: cargo test -p coord-cli --test graph_builds -- --ignored"]
async fn a_repository_of_two_hundred_thousand_files_is_built_and_follows_an_edit() {
    is_built_and_follows_an_edit(200_000).await;
}

async fn is_built_and_follows_an_edit(count: usize) {
    let path = |n: usize| format!("packages/p{}/src/m{}/file{n}.ts", n % 500, n % 7_919 % 40);
    let content = |n: usize| {
        let import = |of: usize| {
            let other = path((n + of) % count);
            format!(
                "import {{ f{of} }} from '../../../../{}'\n",
                other.trim_end_matches(".ts")
            )
        };
        format!("{}export const f = {n}\n", [1, 500, 7_919].map(import).concat())
    };
    let mut world = World::new((0..count).map(|n| (path(n), content(n))));
    assert_eq!(world.build().await, count);
    let graph = world.graph().await;
    assert_eq!((graph.nodes.len(), graph.edges.len()), (count, 3 * count));
    assert_eq!(world.field("edges").await, Some((3 * count).to_string()));
    let adjacency = world.adjacency().await;
    let (spellings, neighbors): (Vec<_>, Vec<_>) = adjacency.iter().partition(|(field, _)| field.starts_with('\n'));
    assert_eq!(neighbors.len(), count);
    let spelled: usize = spellings.iter().map(|(_, value)| value.lines().count() - 1).sum();
    assert_eq!(spelled, count);
    world.source.write(&path(7), "");
    assert_eq!(world.build().await, 1);
    assert_eq!(world.graph().await.edges.len(), 3 * count - 3);
    world.source.write(&path(8), "");
    assert_eq!(world.build_after_restart().await, 1);
    assert_eq!(world.graph().await.edges.len(), 3 * count - 6);
}
