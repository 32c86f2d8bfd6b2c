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
const BLOBS_PER_CHUNK: usize = 64;
/// Maximum files of a checkout that a thread takes at a time. Files share only their folder, so chunks can be small,
/// and no thread waits long for another.
const MAX_FILES_PER_CHUNK: usize = 16;
/// Minimum number of chunks per thread for a checkout: one file may be as large as all others together.
const CHUNKS_PER_THREAD: usize = 8;
/// Files of a checkout that justify one more thread.
const FILES_PER_THREAD: usize = 4;

impl Repository {
    /// Passes every blob of `wanted` to `sink`, each once. After an error, some blobs may not have been passed.
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
        let checkouts = self.checked_out_blobs(wanted.len());
        let blobs_per_thread = if checkouts.is_empty() {
            BLOBS_PER_CHUNK
        } else {
            FILES_PER_THREAD
        };
        let threads = cores().min(wanted.len().div_ceil(blobs_per_thread)).max(1);
        let chunk_size = if checkouts.is_empty() {
            BLOBS_PER_CHUNK
        } else {
            (wanted.len() / (threads * CHUNKS_PER_THREAD)).clamp(1, MAX_FILES_PER_CHUNK)
        };
        let read = || {
            let mut reader = Reader::new(self, &checkouts, max_bytes);
            loop {
                let start = next.fetch_add(chunk_size, Ordering::Relaxed);
                let Some(chunk) = wanted.get(start..wanted.len().min(start + chunk_size)) else {
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
                // If no more threads can be started, the running ones read the rest.
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
    checkouts: &'a [CheckoutBlobs],
    handle: Handle,
    max_bytes: u64,
    buffers: Buffers,
    content: Vec<u8>,
}

/// The result of looking for a blob in the object database.
enum BlobLookup {
    /// Its content is in the reader's buffer.
    Content,
    /// It is larger than the limit: its size in bytes.
    TooLarge(u64),
    NotABlob,
    /// It was not found, or could not be decompressed.
    Missed,
}

impl<'a> Reader<'a> {
    fn new(repository: &'a Repository, checkouts: &'a [CheckoutBlobs], max_bytes: u64) -> Self {
        Reader {
            repository,
            checkouts,
            handle: repository.objects.handle(),
            max_bytes,
            buffers: Buffers::default(),
            content: Vec::new(),
        }
    }

    fn read(&mut self, blob: &str) -> Blob<'_> {
        let id = ObjectId::from_hex(blob.as_bytes());
        let Some(id) = id.ok().filter(|id| id.kind() == self.repository.hash) else {
            return Blob::Unreadable;
        };
        let read_from = |checkout: &CheckoutBlobs| checkout.read(&id, self.max_bytes, &mut self.buffers);
        if self.checkouts.iter().any(read_from) {
            return Blob::Content(self.buffers.content());
        }
        loop {
            match self.find(id) {
                BlobLookup::Content => return Blob::Content(&self.content),
                BlobLookup::TooLarge(size) => return Blob::TooLarge(size),
                BlobLookup::NotABlob => return Blob::Unreadable,
                BlobLookup::Missed => match self.repository.objects.refresh(&self.handle) {
                    Some(fresh) => self.handle = fresh,
                    None => return Blob::Unreadable,
                },
            }
        }
    }

    fn find(&mut self, id: ObjectId) -> BlobLookup {
        // The header first: content over the limit is never decompressed.
        match self.handle.try_find_header(id) {
            Ok(Some(header)) if header.kind() != Kind::Blob => BlobLookup::NotABlob,
            Ok(Some(header)) if header.size() > self.max_bytes => BlobLookup::TooLarge(header.size()),
            Ok(Some(_)) => match gix::objs::Find::try_find(&self.handle.objects, &id, &mut self.content) {
                Ok(Some(object)) if object.kind == Kind::Blob => BlobLookup::Content,
                _ => BlobLookup::Missed,
            },
            _ => BlobLookup::Missed,
        }
    }
}
