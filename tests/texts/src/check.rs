//! The check of one text: memory and time stay within bounds that follow from its length. `fuzz/` runs it too.

use std::time::{Duration, Instant};

use coord_graph::{Blob, EntryKind, Limits, Previous, TreeEntry, Update, manifest_examples};
use coord_scan::Language;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The reader of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The scanner of a language.
    Scan(Language),
    /// The interface of a file of a language.
    Interface(Language),
    /// A build of a repository whose manifest has the text, by the manifest's file name.
    Manifest(&'static str),
}

impl Reader {
    /// Every reader, by the lists of the crates.
    pub fn all() -> Vec<Reader> {
        let scans = Language::all().map(Reader::Scan);
        let interfaces = Language::all().map(Reader::Interface);
        scans
            .chain(interfaces)
            .chain(manifest_examples().map(Reader::Manifest))
            .collect()
    }

    /// Bytes of memory that it may need for each byte of a text, beside [`SPARE_BYTES`].
    fn bytes_per_byte(self) -> usize {
        match self {
            Reader::Scan(_) => 16,
            // The head of each name is kept until all are known. Texts over 1 MiB are not read.
            Reader::Interface(_) => 160,
            Reader::Manifest(_) => 128,
        }
    }

    fn read(self, text: &[u8]) {
        match self {
            Reader::Scan(language) => drop(coord_scan::scan(language, text)),
            Reader::Interface(language) => drop(coord_interfaces::interface(language, text)),
            Reader::Manifest(name) => build(name, text),
        }
    }
}

/// Memory that any text may need: twice the most that one file keeps.
const SPARE_BYTES: usize = 12 << 20;
/// Time that any text may take, on a busy machine and without optimization of other crates.
const SPARE_TIME: Duration = Duration::from_secs(2);
/// Time that each byte may take beside it.
const TIME_PER_BYTE: Duration = Duration::from_nanos(2_000);

/// The result of `work`, and its peak memory in bytes.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let done = work();
    (done, MEMORY.peak_usage().saturating_sub(before))
}

/// Lets `reader` read `text`.
///
/// # Panics
/// When that takes more memory or time than it may. One check runs at a time: the memory is that of the process.
pub fn check(reader: Reader, text: &[u8]) {
    let start = Instant::now();
    let ((), peak) = peak_of(|| reader.read(text));
    let took = start.elapsed();
    let most = SPARE_BYTES + reader.bytes_per_byte() * text.len();
    let beginning = || String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
    assert!(
        peak <= most,
        "{reader:?} took {peak} bytes for {}, more than {most}: {:?}",
        text.len(),
        beginning()
    );
    let longest = SPARE_TIME + TIME_PER_BYTE * u32::try_from(text.len()).unwrap_or(u32::MAX);
    assert!(
        took <= longest,
        "{reader:?} took {took:?} for {} bytes: {:?}",
        text.len(),
        beginning()
    );
}

/// Builds the graph of a repository with `text` as its manifest `name`, and a file of each kind that uses it.
fn build(name: &str, text: &[u8]) {
    let files: [(&str, &[u8]); 5] = [
        (name, text),
        (
            "src/a.ts",
            b"import 'a'; import '#a'; import '@/a'; import 'a/b'; import './b'; import 'src/b'",
        ),
        ("src/b.py", b"import a\nfrom src import b\n"),
        ("src/lib.rs", b"mod a; use a::b; use crate::a;"),
        ("src/main.go", b"package main\nimport \"a/b\"\n"),
    ];
    let blob = |at: usize| format!("{at:040x}");
    let entry = |(at, (path, _)): (usize, &(&str, &[u8]))| TreeEntry {
        path: (*path).to_owned(),
        blob: blob(at),
        kind: EntryKind::File,
    };
    let tree = files.iter().enumerate().map(entry).collect();
    let update = Update::begin(Previous::Nothing, tree, Limits::default());
    loop {
        let wanted = update.wanted();
        if wanted.is_empty() {
            break;
        }
        for one in wanted {
            let at = (0..files.len()).find(|at| blob(*at) == one.blob);
            update.supply(one.file, at.map_or(Blob::Unreadable, |at| Blob::Content(files[at].1)));
        }
    }
    drop(update.finish());
}
