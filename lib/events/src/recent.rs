//! The newest events of a feed.

use std::collections::VecDeque;
use std::sync::Arc;

use super::EncodedEvent;
use coord_domain::EventId;

/// Maximum number of events in memory.
const MAX_EVENTS: usize = 1024;
/// Maximum bytes of these events.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The newest events of a repository that are in the log, without a gap.
#[derive(Debug)]
pub(super) struct RecentEvents {
    events: VecDeque<Arc<EncodedEvent>>,
    bytes: usize,
    /// All later events are here.
    complete_after: EventId,
    /// The newest event, even if this version does not know its type.
    position: EventId,
}

impl RecentEvents {
    /// No events yet; the next one is after `position`.
    pub fn after(position: EventId) -> RecentEvents {
        RecentEvents {
            events: VecDeque::new(),
            bytes: 0,
            complete_after: position,
            position,
        }
    }

    pub fn position(&self) -> EventId {
        self.position
    }

    /// All events after this one are here.
    pub fn complete_after(&self) -> EventId {
        self.complete_after
    }

    /// Skips to the event `id`, whose type this version does not know.
    pub fn skip_to(&mut self, id: EventId) {
        self.position = self.position.max(id);
    }

    /// Adds the next event.
    pub fn push(&mut self, id: EventId, event: Arc<EncodedEvent>) {
        self.position = id;
        self.bytes += event.bytes();
        self.events.push_back(event);
        while self.events.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.events.pop_front() else { return };
            self.bytes -= oldest.bytes();
            self.complete_after = oldest.id.unwrap_or(self.complete_after);
        }
    }

    /// The events after `id`, the oldest first.
    pub fn later_than(&self, id: EventId) -> VecDeque<Arc<EncodedEvent>> {
        let first = self.events.partition_point(|event| event.id <= Some(id));
        self.events.range(first..).cloned().collect()
    }
}
