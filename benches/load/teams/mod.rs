//! The cost of teams: rates beside `post_status`, a large team beside a small one, and agents that wait for messages.

mod member;
mod polls;
mod rates;
mod sizes;

use std::path::Path;

use anyhow::Result;

use crate::client::Subject;
use crate::servers::{Servers, StoreKind};
pub use member::Plan;

pub async fn measure(repository: &Path, subject: &Subject, scratch: &Path, redis: bool, plan: Plan) -> Result<()> {
    coord_serve::listen::raise_file_limit(4096);
    if redis {
        sizes::measure(repository, subject, scratch).await?;
    }
    for kind in [StoreKind::Redis, StoreKind::Embedded] {
        if kind == StoreKind::Embedded || redis {
            let servers = Servers::start(repository, subject, scratch, kind).await?;
            rates::measure(&servers, subject, kind.name(), plan.time).await?;
            let servers = Servers::start(repository, subject, scratch, kind).await?;
            polls::measure(&servers, subject, kind.name(), plan).await?;
        }
    }
    Ok(())
}
