//! The object database while other processes change it.
//!
//! gix looks for new packs when it misses an object, which is enough for a fetch. While `git gc` replaces packs and
//! several threads notice at once, gix can still miss an object that is in the new pack (`gix-odb` 0.87: a pack is gone
//! while another thread has already loaded the new index). So a miss counts only if the database has not changed on
//! disk since it was opened. Otherwise the database is opened and read again.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use gix::ThreadSafeRepository;
use parking_lot::RwLock;

/// How often a miss is checked again.
const MAX_TRIES: u32 = 5;
/// A change no older than this may be one of several: git writes the new pack first and deletes the old ones later.
const SETTLED: Duration = Duration::from_millis(250);
/// Pause before the next attempt on a database that is being changed.
const PAUSE: Duration = Duration::from_millis(20);

/// The object database of one repository.
pub(super) struct Objects {
    common_dir: PathBuf,
    options: gix::open::Options,
    current: RwLock<Arc<OpenState>>,
}

struct OpenState {
    shared: ThreadSafeRepository,
    /// The last change of the packs before the database was opened.
    changed: Option<SystemTime>,
}

/// One thread's view of the database, with its own caches.
pub(super) struct Handle {
    repository: gix::Repository,
    state: Arc<OpenState>,
    tries: u32,
}

impl Deref for Handle {
    type Target = gix::Repository;

    fn deref(&self) -> &gix::Repository {
        &self.repository
    }
}

impl Objects {
    /// Opens the repository at `common_dir`.
    pub(super) fn open(common_dir: &Path, options: gix::open::Options) -> Result<Self, gix::Error> {
        Ok(Objects {
            current: RwLock::new(Arc::new(open(common_dir, &options)?)),
            common_dir: common_dir.to_owned(),
            options,
        })
    }

    /// The objects of the repository at `common_dir`, which is already open and has not been read yet.
    pub(super) fn new(common_dir: &Path, options: gix::open::Options, shared: ThreadSafeRepository) -> Self {
        let changed = last_change(common_dir);
        Objects {
            current: RwLock::new(Arc::new(OpenState { shared, changed })),
            common_dir: common_dir.to_owned(),
            options,
        }
    }

    pub(super) fn handle(&self) -> Handle {
        handle(Arc::clone(&self.current.read()), 0)
    }

    /// Runs `work` until its result has no miss, or the missed object is really missing.
    pub(super) fn read<T>(&self, is_miss: impl Fn(&T) -> bool, work: impl Fn(&gix::Repository) -> T) -> T {
        let mut handle = self.handle();
        loop {
            let result = work(&handle);
            if !is_miss(&result) {
                return result;
            }
            match self.refresh(&handle) {
                Some(fresh) => handle = fresh,
                None => return result,
            }
        }
    }

    /// A fresh handle, if an object that `old` missed may exist.
    pub(super) fn refresh(&self, old: &Handle) -> Option<Handle> {
        let tries = old.tries + 1;
        if tries > MAX_TRIES {
            return None;
        }
        let changed = last_change(&self.common_dir);
        let is_settled = changed
            .and_then(|changed| changed.elapsed().ok())
            .is_none_or(|age| age > SETTLED);
        if changed == old.state.changed && is_settled {
            return None;
        }
        if !is_settled && tries > 1 {
            thread::sleep(PAUSE);
        }
        let mut current = self.current.write();
        if Arc::ptr_eq(&current, &old.state) {
            *current = Arc::new(open(&self.common_dir, &self.options).ok()?);
        }
        Some(handle(Arc::clone(&current), tries))
    }
}

fn handle(state: Arc<OpenState>, tries: u32) -> Handle {
    Handle {
        repository: state.shared.to_thread_local(),
        state,
        tries,
    }
}

fn open(common_dir: &Path, options: &gix::open::Options) -> Result<OpenState, gix::Error> {
    // Read before the packs are listed, so that a later change is noticed.
    let changed = last_change(common_dir);
    let shared = options.clone().open(common_dir)?;
    Ok(OpenState { shared, changed })
}

/// When a pack was last added or deleted.
fn last_change(common_dir: &Path) -> Option<SystemTime> {
    let packs = common_dir.join("objects").join("pack");
    std::fs::metadata(packs).and_then(|metadata| metadata.modified()).ok()
}
