use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;

use super::{Library, Promises, Request, Store, StoreError, Value};
use coord_runtime::timing::Call;

/// A store whose calls are timed for the current request.
pub struct TimedStore(Arc<dyn Store>);

impl TimedStore {
    /// Times the calls of `store`.
    pub fn over(store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(TimedStore(store))
    }
}

#[async_trait]
impl Store for TimedStore {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        let _call = Call::to_store();
        self.0.run(batch).await
    }

    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        let _call = Call::to_store();
        self.0.subscribe(channel).await
    }

    async fn promises(&self) -> Promises {
        self.0.promises().await
    }

    async fn responds(&self) -> Result<(), StoreError> {
        self.0.responds().await
    }

    async fn delete_unused_libraries(&self, own: &Library) -> Result<(), StoreError> {
        self.0.delete_unused_libraries(own).await
    }

    fn probe_bytes(&self) -> usize {
        self.0.probe_bytes()
    }

    fn describe(&self) -> String {
        self.0.describe()
    }
}
