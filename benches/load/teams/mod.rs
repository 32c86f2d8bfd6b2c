//! The cost of teams: rates beside `post_status`, a large team beside a small one, and agents that wait for messages.

mod member;
mod polls;
mod rates;
mod sizes;

use std::path::Path;

use anyhow::Result;

use crate::client::Subject;
use crate::servers::Servers;
pub use member::Plan;

pub async fn measure(repository: &Path, subject: &Subject, scratch: &Path, redis: bool, plan: Plan) -> Result<()> {
    coord_serve::listen::raise_file_limit(4096);
    if redis {
        sizes::measure(repository, subject, scratch).await?;
    }
    for is_redis in [true, false].into_iter().filter(|is_redis| redis || !is_redis) {
        let servers = Servers::start(repository, subject, scratch, is_redis).await?;
        rates::measure(&servers, subject, is_redis, plan.time).await?;
        let servers = Servers::start(repository, subject, scratch, is_redis).await?;
        polls::measure(&servers, subject, is_redis, plan).await?;
    }
    Ok(())
}
