//! `coord team sync --watch`.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use coord_test_support::waiting::block_until;

use super::{A, B, C, CONFIG, TeamClone, message, message_texts};
use crate::processes::kill;

/// A `coord team sync --watch`; ended when dropped.
pub struct Watch {
    process: Child,
    /// The lines that it prints.
    pub lines: Receiver<String>,
}

fn forward(output: impl Read + Send + 'static, sender: Sender<String>) {
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    std::thread::spawn(move || lines.try_for_each(|line| sender.send(line)));
}

impl Watch {
    pub fn start(place: &TeamClone) -> Watch {
        let mut command = place.command();
        command.args(["team", "sync", "--watch", "--json"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        forward(process.stdout.take().unwrap(), sender.clone());
        forward(process.stderr.take().unwrap(), sender);
        Watch { process, lines }
    }

    /// One that has looked at the folder.
    fn at_work(place: &TeamClone) -> Watch {
        let watch = Watch::start(place);
        // time: the watch looks at the folder first.
        std::thread::sleep(Duration::from_millis(300));
        watch
    }

    /// The next line that has these words.
    fn until(&self, words: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(60)).expect(words);
            if line.contains(words) {
                return line;
            }
        }
    }

    pub fn end(&mut self) -> Option<i32> {
        kill(&self.process.id().to_string());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// rule: files#team-watch
#[test]
fn a_change_of_either_side_is_soon_on_the_other() {
    let place = TeamClone::with_team();
    let mut watch = Watch::start(&place);
    block_until("the files are there", || place.path(A).exists());
    watch.lines.recv_timeout(Duration::from_secs(60)).unwrap();
    let mut times = Vec::new();
    for round in 0..5 {
        let title = format!("of the server {round}");
        let started = Instant::now();
        place.retitles("a", &title);
        block_until("it is in the file", || place.text(A).contains(&title));
        times.push(started.elapsed());
        let text = format!("in the file {round}");
        let started = Instant::now();
        place.append("w1", message("lead", "w1", &text));
        block_until("it is on the server", || {
            message_texts(&place.messages()).contains(&text)
        });
        times.push(started.elapsed());
    }
    times.sort();
    // The machine may be busy: the figure is the bench's.
    assert!(times[0] < Duration::from_millis(500), "{times:?}");
    // A refused change is reported once.
    place.write(B, "{");
    watch.until("\"file\":\"tasks/alpha/b.json\"");
    place.edit(C, |task| task["title"] = "another".into());
    let line = watch.until("task c changed");
    assert!(!line.contains("b.json"), "{line}");
    // One at a time.
    let second = place.run(&["team", "sync"]);
    let errors = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(1), "{errors}");
    assert!(
        errors.contains("another coord team sync already syncs team alpha"),
        "{errors}"
    );
    assert_eq!(watch.end(), Some(0));
}

#[test]
fn a_folder_that_vanishes_and_a_server_that_ends_are_waited_for() {
    let place = TeamClone::alike();
    let watch = Watch::at_work(&place);
    let kept = place.world.folder("kept").join("root");
    std::fs::rename(&place.root, &kept).unwrap();
    watch.until("\"vanished\"");
    assert_eq!(place.stored("c")["title"], "task c");
    std::fs::rename(&kept, &place.root).unwrap();
    place.edit(A, |task| task["title"] = "back again".into());
    block_until("it is on the server", || place.stored("a")["title"] == "back again");
    let process = place.world.server().unwrap();
    kill(&process);
    block_until("it has ended", || place.world.server().as_ref() != Some(&process));
    place.edit(A, |task| task["title"] = "while it was away".into());
    let line = watch.until("trying again");
    assert!(line.starts_with("coord: "), "{line}");
    place.coord(&["team", "list"], 0);
    block_until("it is on the new server", || {
        place.stored("a")["title"] == "while it was away"
    });
}

#[test]
fn a_folder_that_is_removed_slowly_deletes_no_task() {
    let place = TeamClone::alike();
    let watch = Watch::at_work(&place);
    let inboxes = ["lead", "w1"].map(|handle| format!("teams/alpha/inboxes/{handle}.json"));
    for file in [A, B, &inboxes[0], &inboxes[1], CONFIG] {
        let _ = std::fs::remove_file(place.path(file));
        // time: files vanish one by one.
        std::thread::sleep(Duration::from_millis(120));
    }
    std::fs::remove_dir_all(place.path("teams/alpha")).unwrap();
    watch.until("\"vanished\"");
    for task in ["a", "b", "c"] {
        assert_eq!(place.stored(task)["title"], format!("task {task}"));
    }
}

#[test]
fn a_root_that_is_made_anew_at_once_is_watched() {
    let place = TeamClone::alike();
    let watch = Watch::at_work(&place);
    let kept = place.world.folder("kept").join("root");
    for round in 0..3 {
        // Another folder in its place.
        let mut copy = Command::new("cp");
        let copied = copy.arg("-r").args([&place.root, &kept]).status();
        assert!(copied.unwrap().success());
        // A synchronization may write into the old one meanwhile.
        block_until("the other folder is there", || {
            let _ = std::fs::remove_dir_all(&place.root);
            std::fs::rename(&kept, &place.root).is_ok()
        });
        // time: the watch finds the other folder.
        std::thread::sleep(Duration::from_secs(1));
        let title = format!("after round {round}");
        place.edit(A, |task| task["title"] = title.clone().into());
        let started = Instant::now();
        watch.until("task a changed");
        let elapsed = started.elapsed();
        assert!(elapsed < Duration::from_secs(15), "by the look of each half minute");
        assert_eq!(place.stored("a")["title"], title);
    }
}
