//! The memory of a server that builds the graphs of a branch that moves, whatever the branch contains.

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use coord_test_support::skipping::skip;

use crate::memory::{Hostile, MAX_MIB, high_mark};

/// A server, killed when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The most memory in MiB that `coord serve` had while it built the graphs of `commits` one after another and answered requests for
/// them; none where the system does not tell.
async fn peak_of_server(hostile: &Hostile, commits: [&str; 2]) -> Option<u64> {
    let move_to = |commit: &str| {
        hostile.repo.git(&["update-ref", "refs/heads/main", commit]);
    };
    move_to(commits[0]);
    let data = tempfile::tempdir().unwrap();
    let server = Command::new(env!("CARGO_BIN_EXE_coord"))
        .args(["serve", "--port", "0", "--repo"])
        .arg(hostile.repo.path())
        .arg("--data-dir")
        .arg(data.path())
        .env("XDG_STATE_HOME", data.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut server = Server(server.unwrap());
    let lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
    let (mut base, mut name) = (None, None);
    for line in lines.map_while(Result::ok) {
        if let Some(address) = line.strip_prefix("Coord listens on ") {
            base = Some(address.to_owned());
        }
        if let Some((served, _)) = line
            .trim()
            .strip_prefix("serving ")
            .and_then(|line| line.split_once(" ("))
        {
            name = Some(format!("https://{}", served.trim()));
            break;
        }
    }
    let (base, name) = (base.expect("an address"), name.expect("what is served"));
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for commit in commits {
        move_to(commit);
        let deadline = Instant::now() + Duration::from_secs(600);
        loop {
            let request = client.get(format!("{base}/api/graph?repo_url={name}&branch=main"));
            let response = request.send().await.unwrap();
            let is_ok = response.status().is_success();
            let text = response.text().await.unwrap();
            if is_ok && text.contains(&format!("\"version\":\"{commit}\"")) {
                break;
            }
            let start: String = text.chars().take(300).collect();
            assert!(Instant::now() < deadline, "{commit}: {start}");
            // time: between two polls of a build that may take minutes.
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
    high_mark(server.0.id())
}

/// Commits of repositories that are small to push and large to understand, with what each is about. The second of each differs in one
/// file, so that the graph of the first is at hand while it is built.
fn shapes(hostile: &Hostile) -> Vec<(&'static str, [String; 2])> {
    let many = |count: usize, line: &dyn Fn(usize) -> String| {
        (0..count).fold(String::new(), |mut text, number| {
            writeln!(text, "{}", line(number)).unwrap();
            text
        })
    };
    let mut commits: Vec<(&'static str, String)> = Vec::new();
    // Files of a Go package, imported by as many others: a million edges of a few objects, and as many as a graph may have.
    for (label, count) in [("edges", 1_000), (MOST_EDGES, 1_732)] {
        commits.push((label, hostile.go_packages(count)));
    }
    // 32 MiB of manifests.
    let names = many(3_000, &|number| format!("\"package-{number}\": \"*\","));
    let manifest = hostile.blob(&format!(
        "{{\"name\": \"a\", \"dependencies\": {{{names} \"z\": \"*\"}}}}"
    ));
    let one = hostile.git("mktree", &format!("100644 blob {manifest}\tpackage.json\n"));
    let count = (32 << 20) / names.len();
    let packages = hostile.tree("040000 tree", &one, count, |number| format!("p{number}"));
    commits.push(("manifests", format!("040000 tree {packages}\tpackages\n")));
    // Links to a folder that has links.
    let link = hostile.blob("../d");
    let importer = hostile.blob("package main\n\nimport _ \"example.com/m/lib\"\n");
    let links = hostile.tree("120000 blob", &link, 50_000, |number| format!("l{number}"));
    let files = hostile.tree("100644 blob", &importer, 100, |number| format!("f{number}.go"));
    commits.push(("symlinks", format!("040000 tree {files}\td\n040000 tree {links}\tl\n")));
    // Imports of 4 KiB each, in each file of a blob that is stored once.
    let long = hostile.blob(&many(200, &|number| format!("import './{number:04080}'")));
    let longs = hostile.tree("100644 blob", &long, 5_000, |number| format!("f{number}.ts"));
    commits.push(("long", format!("040000 tree {longs}\tsrc\n")));
    // Spellings of one path.
    let spelled = |number: usize| {
        let letter = |place: usize| if number >> place & 1 == 1 { 'A' } else { 'a' };
        format!("{}.ts", (0..17).map(letter).collect::<String>())
    };
    let one = hostile.blob("export const one = 1;\n");
    let capitals = hostile.tree("100644 blob", &one, 100_000, spelled);
    commits.push(("capitals", format!("040000 tree {capitals}\tsrc\n")));
    let both = |root: String| {
        let commit = |more: &str| {
            let file = hostile.blob(more);
            hostile.commit(&format!("{root}100644 blob {file}\tz.ts\n"))
        };
        [commit("1\n"), commit("2\n")]
    };
    commits.into_iter().map(|(label, root)| (label, both(root))).collect()
}

/// Three million edges, and what they may take: more than is aimed at, because a graph is held from both ends, before and after.
const MOST_EDGES: &str = "most edges";
const MAX_MIB_WITH_MOST_EDGES: u64 = 512;

#[tokio::test]
#[ignore = "takes minutes alone: cargo test -p coord-cli --test graph_builds -- --ignored"]
async fn no_branch_makes_a_server_take_much_memory() {
    let hostile = Hostile::new();
    let mut most = Vec::new();
    for (label, [first, second]) in shapes(&hostile) {
        let Some(mib) = peak_of_server(&hostile, [&first, &second]).await else {
            return skip("the system does not tell the memory of a process");
        };
        println!("{label}: {mib} MiB");
        most.push((label, mib));
    }
    let is_bounded = |(label, mib): &(&str, u64)| {
        let most = if *label == MOST_EDGES {
            MAX_MIB_WITH_MOST_EDGES
        } else {
            MAX_MIB
        };
        (10..most).contains(mib)
    };
    assert!(most.iter().all(is_bounded), "{most:?}");
}
