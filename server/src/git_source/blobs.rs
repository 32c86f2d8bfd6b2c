//! Reading many blobs on all cores.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use coord::source::{BlobSink, SourceError};
use gix::ObjectId;
use gix::objs::Kind;

use super::bounded::Deadline;
use super::repository::Repository;

/// How many blobs a thread takes at a time. Neighbours in a tree are often neighbours in a pack and share their bases.
const CHUNK: usize = 64;

impl Repository {
    /// Hands every blob of `wanted` to `sink`, once each: its content, or `None` where it is no blob, is missing, damaged, or
    /// larger than `max_bytes`. After an error some may not have been handed over.
    pub(super) fn read_blobs(
        &self,
        wanted: &[String],
        max_bytes: u64,
        sink: &BlobSink,
        deadline: &Deadline,
    ) -> Result<(), SourceError> {
        self.check_present()?;
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = cores.min(wanted.len().div_ceil(CHUNK));
        let next = AtomicUsize::new(0);
        let is_missing = AtomicBool::new(false);
        let read = || {
            let mut reader = Reader::new(self, max_bytes);
            loop {
                let start = next.fetch_add(CHUNK, Ordering::Relaxed);
                let Some(chunk) = wanted.get(start..wanted.len().min(start + CHUNK)) else {
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
                    if content.is_none() {
                        is_missing.store(true, Ordering::Relaxed);
                    }
                    sink(start + offset, content);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // Where no more threads can be had, this one reads all.
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
            // One missing blob is an answer; a repository that went away meanwhile is an error.
            self.check_present()?;
        }
        Ok(())
    }
}

/// One thread's view of the object database, with its own caches.
struct Reader {
    handle: gix::Repository,
    hash: gix::hash::Kind,
    max_bytes: u64,
    content: Vec<u8>,
}

impl Reader {
    fn new(repository: &Repository, max_bytes: u64) -> Self {
        Reader {
            handle: repository.handle(),
            hash: repository.hash(),
            max_bytes,
            content: Vec::new(),
        }
    }

    fn read(&mut self, blob: &str) -> Option<&[u8]> {
        let id = ObjectId::from_hex(blob.as_bytes())
            .ok()
            .filter(|id| id.kind() == self.hash)?;
        // The header first: content over the limit is never unpacked.
        let header = self.handle.try_find_header(id).ok().flatten()?;
        if header.kind() != Kind::Blob || header.size() > self.max_bytes {
            return None;
        }
        // The buffer of the last blob is used again.
        let object = gix::objs::Find::try_find(&self.handle.objects, &id, &mut self.content)
            .ok()
            .flatten()?;
        (object.kind == Kind::Blob).then_some(object.data)
    }
}
