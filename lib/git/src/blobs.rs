//! Reading many blobs on all cores.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use coord_graph::cores;
use coord_sources::{Blob, BlobSink, SourceError};
use gix::ObjectId;
use gix::objs::Kind;

use super::checkout::{Buffers, CheckoutBlobs};
use super::deadline::Deadline;
use super::objects::Handle;
use super::repository::Repository;

/// Blobs that a thread takes at a time. Neighbors in a tree are often neighbors in a pack and share delta bases.
const CHUNK: usize = 64;
/// Files of a checkout that a thread takes at a time, at most. They share only their folder, so that small portions keep
/// threads from waiting for each other.
const FILES_CHUNK: usize = 16;
/// Portions of a checkout's files per thread, at least: one file may be as large as all others together.
const TURNS: usize = 8;
/// Files of a checkout that justify one more thread.
const WORTH_A_THREAD: usize = 4;

impl Repository {
    /// Passes every blob of `wanted` to `sink`, once each. After an error, some may not have been passed.
    pub(super) fn read_blobs(
        &self,
        wanted: &[String],
        max_bytes: u64,
        sink: &BlobSink,
        deadline: &Deadline,
    ) -> Result<(), SourceError> {
        self.check_present()?;
        let next = AtomicUsize::new(0);
        let is_missing = AtomicBool::new(false);
        let checked_out = self.checked_out_blobs(wanted.len());
        let worth_a_thread = if checked_out.is_empty() { CHUNK } else { WORTH_A_THREAD };
        let threads = cores().min(wanted.len().div_ceil(worth_a_thread)).max(1);
        let size = match checked_out.is_empty() {
            true => CHUNK,
            false => (wanted.len() / (threads * TURNS)).clamp(1, FILES_CHUNK),
        };
        let read = || {
            let mut reader = Reader::new(self, &checked_out, max_bytes);
            loop {
                let start = next.fetch_add(size, Ordering::Relaxed);
                let Some(chunk) = wanted.get(start..wanted.len().min(start + size)) else {
                    return;
                };
                if chunk.is_empty() {
                    return;
                }
                for (offset, blob) in chunk.iter().enumerate() {
                    if deadline.has_passed() {
                        return;
                    }
                    let content = reader.read(blob);
                    if content == Blob::Unreadable {
                        is_missing.store(true, Ordering::Relaxed);
                    }
                    sink(start + offset, content);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // Where no more threads can be started, this one reads the rest.
                let started = thread::Builder::new()
                    .name("read-blobs".to_owned())
                    .spawn_scoped(scope, read);
                if started.is_err() {
                    break;
                }
            }
            read();
        });
        if deadline.has_passed() {
            return Err(deadline.error());
        }
        if is_missing.into_inner() {
            // One missing blob is a result; a repository that has been removed is an error.
            self.check_present()?;
        }
        Ok(())
    }
}

/// The state of one reading thread.
struct Reader<'a> {
    repository: &'a Repository,
    checked_out: &'a [CheckoutBlobs],
    handle: Handle,
    max_bytes: u64,
    buffers: Buffers,
    content: Vec<u8>,
}

/// The result of looking for a blob.
enum BlobLookup {
    /// Its content is in the reader's buffer.
    Content,
    /// It is larger than the limit: its size in bytes.
    TooLarge(u64),
    /// The object is not a blob.
    Refused,
    /// It was not found, or could not be unpacked.
    Missed,
}

impl<'a> Reader<'a> {
    fn new(repository: &'a Repository, checked_out: &'a [CheckoutBlobs], max_bytes: u64) -> Self {
        Reader {
            repository,
            checked_out,
            handle: repository.objects().handle(),
            max_bytes,
            buffers: Buffers::default(),
            content: Vec::new(),
        }
    }

    fn read(&mut self, blob: &str) -> Blob<'_> {
        let hash = self.repository.hash();
        let id = ObjectId::from_hex(blob.as_bytes());
        let Some(id) = id.ok().filter(|id| id.kind() == hash) else {
            return Blob::Unreadable;
        };
        let is_checked_out = |place: &CheckoutBlobs| place.find(&id, self.max_bytes, &mut self.buffers);
        if self.checked_out.iter().any(is_checked_out) {
            return Blob::Content(self.buffers.content());
        }
        loop {
            match self.find(id) {
                BlobLookup::Content => return Blob::Content(&self.content),
                BlobLookup::TooLarge(size) => return Blob::TooLarge(size),
                BlobLookup::Refused => return Blob::Unreadable,
                BlobLookup::Missed => match self.repository.objects().again(&self.handle) {
                    Some(fresh) => self.handle = fresh,
                    None => return Blob::Unreadable,
                },
            }
        }
    }

    fn find(&mut self, id: ObjectId) -> BlobLookup {
        // The header first: content over the limit is never decompressed.
        match self.handle.try_find_header(id) {
            Ok(Some(header)) if header.kind() != Kind::Blob => BlobLookup::Refused,
            Ok(Some(header)) if header.size() > self.max_bytes => BlobLookup::TooLarge(header.size()),
            Ok(Some(_)) => match gix::objs::Find::try_find(&self.handle.objects, &id, &mut self.content) {
                Ok(Some(object)) if object.kind == Kind::Blob => BlobLookup::Content,
                _ => BlobLookup::Missed,
            },
            _ => BlobLookup::Missed,
        }
    }
}
