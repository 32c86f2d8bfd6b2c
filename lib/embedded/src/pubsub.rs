//! Channels within this process. The committer delivers a message once the change that it reports is durable.

use bytes::Bytes;
use coord_store::Backlog;
use futures::stream::BoxStream;
use parking_lot::Mutex;
use std::collections::HashMap;

/// A message on its way to its channel.
pub(super) struct Message {
    /// The name of the channel.
    pub channel: Vec<u8>,
    pub payload: Bytes,
}

/// The channels with subscribers.
#[derive(Default)]
pub(super) struct Channels {
    subscribers: Mutex<HashMap<Vec<u8>, Vec<Backlog>>>,
}

impl Channels {
    /// Number of subscribers of `channel`.
    pub fn subscriber_count(&self, channel: &[u8]) -> usize {
        let subscribers = self.subscribers.lock();
        let of_channel = subscribers.get(channel).map_or(&[][..], Vec::as_slice);
        of_channel.iter().filter(|subscriber| subscriber.has_reader()).count()
    }

    /// Delivers `message` to all subscribers.
    pub fn deliver(&self, message: &Message) {
        let mut subscribers = self.subscribers.lock();
        if let Some(of_channel) = subscribers.get_mut(&message.channel) {
            of_channel.retain(|subscriber| subscriber.push(&message.payload));
            if of_channel.is_empty() {
                subscribers.remove(&message.channel);
            }
        }
    }

    /// The messages on `channel` from now on. The stream ends when its reader falls too far behind; the reader then
    /// reads missed events from the log.
    pub fn subscribe(&self, channel: &[u8]) -> BoxStream<'static, Bytes> {
        let (backlog, messages) = Backlog::open();
        let mut subscribers = self.subscribers.lock();
        subscribers.retain(|_, of_channel| {
            of_channel.retain(Backlog::has_reader);
            !of_channel.is_empty()
        });
        subscribers.entry(channel.to_vec()).or_default().push(backlog);
        messages
    }

    /// Ends every stream.
    pub fn close(&self) {
        self.subscribers.lock().clear();
    }
}
