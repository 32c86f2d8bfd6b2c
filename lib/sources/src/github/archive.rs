//! Reads blobs from an archive while it arrives. Nothing of it is written to disk, and at most one wanted file is in
//! memory.
//!
//! An archive must agree with the tree: an entry counts only if its path, size and content are those of the tree. So
//! entries outside the root, links, devices, files changed by `export-subst` and names that git forbids are skipped,
//! and do no harm.

use std::collections::HashMap;
use std::io::{self, Read};
use std::time::Instant;

use flate2::read::GzDecoder;
use tar::{Archive, Entry, EntryType, PaxExtensions};
use tokio::sync::oneshot;

use super::blob_id::BlobId;
use super::known_tree::KnownTree;
use crate::{Blob, BlobSink};

/// Maximum size of an extended header; a path has at most 4,096 bytes.
const HEADER_BYTES: u64 = 64 << 10;

/// Wanted blobs, each with its indexes at the sink.
pub(super) type WantedBlobs = HashMap<BlobId, Vec<usize>>;

#[derive(Clone, Copy, Debug)]
pub(super) struct ArchiveLimits {
    /// Uncompressed.
    pub(super) bytes: u64,
    pub(super) entries: usize,
    pub(super) deadline: Instant,
}

/// One pass over the archive: from the end of the previous pass to the last position of a wanted blob.
pub(super) struct Pass {
    /// Blobs of the tree, each small enough for memory.
    pub(super) wanted: WantedBlobs,
    /// The last position of a wanted blob in the tree.
    pub(super) last_position: u32,
    pub(super) sink: BlobSink,
    /// Notified at the end of the pass. The pass stops if the receiver is gone.
    pub(super) done: oneshot::Sender<PassResult>,
}

#[derive(Debug)]
pub(super) struct PassResult {
    pub(super) not_found: WantedBlobs,
    pub(super) end: PassEnd,
}

/// How a pass ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PassEnd {
    /// At its last position; another pass can follow.
    Paused,
    Finished,
    /// In the middle.
    Failed(String),
}

/// Reads a gzipped archive of `tree`, pass after pass, until `next_pass` returns `None`.
pub(super) fn scan(
    compressed: impl Read,
    tree: &KnownTree,
    limits: ArchiveLimits,
    mut next_pass: impl FnMut() -> Option<Pass>,
) {
    let Some(first) = next_pass() else { return };
    let bounded = BoundedReader {
        inner: GzDecoder::new(compressed),
        remaining: limits.bytes,
        deadline: limits.deadline,
    };
    let mut scan = Scan {
        tree,
        pass: Some(first),
        next_pass: &mut next_pass,
        content: Vec::new(),
    };
    let end = match scan.read(Archive::new(bounded), limits.entries) {
        Ok(()) => PassEnd::Finished,
        Err(error) => PassEnd::Failed(error.to_string()),
    };
    scan.end_pass(end);
}

struct Scan<'a, N> {
    tree: &'a KnownTree,
    /// `None` after the last pass.
    pass: Option<Pass>,
    next_pass: &'a mut N,
    content: Vec<u8>,
}

impl<N: FnMut() -> Option<Pass>> Scan<'_, N> {
    fn read(&mut self, mut archive: Archive<impl Read>, max_entries: usize) -> io::Result<()> {
        // Raw, so that this module reads extended headers with a limit; the crate would read them in full.
        let entries = archive.entries()?.raw(true);
        let mut long_path = None;
        for (number, entry) in entries.enumerate() {
            if number >= max_entries {
                return Err(io::Error::other(format!("it has more than {max_entries} entries")));
            }
            let mut entry = entry?;
            match entry.header().entry_type() {
                EntryType::XHeader => long_path = pax_path(&read_header(&mut entry)?),
                EntryType::GNULongName => {
                    let mut name = read_header(&mut entry)?;
                    name.truncate(name.iter().position(|byte| *byte == 0).unwrap_or(name.len()));
                    long_path = Some(name);
                }
                EntryType::GNULongLink | EntryType::XGlobalHeader => {}
                kind => {
                    let path = long_path.take().unwrap_or_else(|| entry.path_bytes().into_owned());
                    let is_file = matches!(kind, EntryType::Regular | EntryType::Continuous);
                    if (is_file || kind == EntryType::Symlink) && !self.read_file(&path, &mut entry)? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Processes a file of the archive. Returns whether to go on.
    fn read_file(&mut self, path: &[u8], entry: &mut Entry<'_, impl Read>) -> io::Result<bool> {
        // All entries are in one folder, named after repository and commit.
        let path = std::str::from_utf8(path).ok().and_then(|path| path.split_once('/'));
        let Some((position, file)) = path.and_then(|(_, path)| self.tree.find(path)) else {
            return Ok(self.pass.as_ref().is_some_and(|pass| !pass.done.is_closed()));
        };
        while self
            .pass
            .as_ref()
            .is_some_and(|pass| pass.wanted.is_empty() || pass.last_position < position)
        {
            self.end_pass(PassEnd::Paused);
            self.pass = (self.next_pass)();
        }
        let Some(pass) = self.pass.as_mut().filter(|pass| !pass.done.is_closed()) else {
            return Ok(false);
        };
        if !pass.wanted.contains_key(&file.id) {
            return Ok(true);
        }
        self.content.clear();
        if entry.header().entry_type() == EntryType::Symlink {
            // The content of a link is its target. A link with a target too long for the header is fetched separately.
            self.content
                .extend_from_slice(&entry.link_name_bytes().unwrap_or_default());
        } else {
            if entry.header().entry_size()? != file.size {
                return Ok(true);
            }
            entry.read_to_end(&mut self.content)?;
            if self.content.len() as u64 != file.size {
                return Err(io::Error::other("it ends in the middle of a file"));
            }
        }
        if file.id.matches(&self.content) {
            for index in pass.wanted.remove(&file.id).unwrap_or_default() {
                (pass.sink)(index, Blob::Content(&self.content));
            }
        }
        Ok(true)
    }

    fn end_pass(&mut self, end: PassEnd) {
        if let Some(Pass { wanted, done, .. }) = self.pass.take() {
            // The receiver may be gone.
            let _ = done.send(PassResult { not_found: wanted, end });
        }
    }
}

/// The content of an extended header.
fn read_header(entry: &mut Entry<'_, impl Read>) -> io::Result<Vec<u8>> {
    let size = entry.header().entry_size()?;
    if size > HEADER_BYTES {
        return Err(io::Error::other(format!("an extended header has {size} bytes")));
    }
    let mut content = Vec::new();
    entry.read_to_end(&mut content)?;
    Ok(content)
}

fn pax_path(header: &[u8]) -> Option<Vec<u8>> {
    let extensions = PaxExtensions::new(header).filter_map(Result::ok);
    let path = extensions.filter(|extension| extension.key_bytes() == b"path").last()?;
    Some(path.value_bytes().to_vec())
}

/// Uncompressed bytes, limited in number and time.
struct BoundedReader<R> {
    inner: R,
    remaining: u64,
    deadline: Instant,
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if Instant::now() >= self.deadline {
            return Err(io::Error::other("it takes too long"));
        }
        let length = self.inner.read(buffer)?;
        match self.remaining.checked_sub(length as u64) {
            Some(remaining) => {
                self.remaining = remaining;
                Ok(length)
            }
            None => Err(io::Error::other("it unpacks to more than the files of the tree")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;
    use crate::github::tree::ListedFile;
    use crate::{EntryKind, TreeEntry};
    use coord_domain::{CommitSha, RepoId};

    const FILES: usize = 8;

    fn content(number: usize) -> String {
        format!("export const x = {number};\n").repeat(number)
    }

    fn id(content: &str) -> String {
        let mut hash = sha1_smol::Sha1::new();
        hash.update(format!("blob {}\0{content}", content.len()).as_bytes());
        hash.digest().to_string()
    }

    fn tree() -> KnownTree {
        let listed = (0..FILES).map(|number| ListedFile {
            entry: TreeEntry {
                path: format!("d/f{number}.ts"),
                blob: id(&content(number)),
                kind: EntryKind::File,
            },
            size: content(number).len() as u64,
        });
        let repo = RepoId::parse("https://github.com/a/b").unwrap();
        let listed: Vec<ListedFile> = listed.collect();
        KnownTree::new(&repo, &CommitSha::parse("abcdef1").unwrap(), &listed)
    }

    /// An uncompressed archive of the tree.
    fn archive() -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        for number in 0..FILES {
            let mut header = tar::Header::new_gnu();
            header.set_size(content(number).len() as u64);
            header.set_cksum();
            let path = format!("a-b-abcdef1/d/f{number}.ts");
            archive
                .append_data(&mut header, path, content(number).as_bytes())
                .unwrap();
        }
        archive.into_inner().unwrap()
    }

    fn compress(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// The number of files that a scan finds; each is checked.
    fn count_found(compressed: &[u8]) -> usize {
        let found: Arc<Mutex<Vec<usize>>> = Arc::default();
        let sink: BlobSink = {
            let found = Arc::clone(&found);
            Arc::new(move |index, blob| {
                assert_eq!(blob, Blob::Content(content(index).as_bytes()));
                found.lock().unwrap().push(index);
            })
        };
        let (done, mut result) = oneshot::channel();
        let wanted = (0..FILES).map(|number| (BlobId::parse(&id(&content(number))).unwrap(), vec![number]));
        let mut pass = Some(Pass {
            wanted: wanted.collect(),
            last_position: FILES as u32,
            sink,
            done,
        });
        let limits = ArchiveLimits {
            bytes: 1 << 20,
            entries: 1_000,
            deadline: Instant::now() + Duration::from_secs(60),
        };
        scan(compressed, &tree(), limits, || pass.take());
        let not_found = result.try_recv().unwrap().not_found.len();
        let found = found.lock().unwrap().len();
        assert_eq!(found + not_found, FILES);
        found
    }

    #[test]
    fn all_files_of_a_whole_archive_are_found() {
        assert_eq!(count_found(&compress(&archive())), FILES);
    }

    proptest! {
        #[test]
        fn a_damaged_archive_gives_right_contents_or_none(
            damage in prop::collection::vec((0..12_000_usize, any::<u8>()), 1..20),
            before_compression in any::<bool>(),
            end in 0..14_000_usize,
        ) {
            let mut bytes = archive();
            if before_compression {
                let length = bytes.len();
                damage.iter().for_each(|(offset, byte)| bytes[offset % length] ^= byte);
            }
            let mut bytes = compress(&bytes);
            if !before_compression {
                let length = bytes.len();
                damage.iter().for_each(|(offset, byte)| bytes[offset % length] ^= byte);
            }
            bytes.truncate(end.max(1));
            count_found(&bytes);
        }

        #[test]
        fn bytes_that_are_no_archive_are_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..5_000),
            is_compressed in any::<bool>(),
        ) {
            let bytes = if is_compressed { compress(&bytes) } else { bytes };
            prop_assert_eq!(count_found(&bytes), 0);
        }
    }
}
