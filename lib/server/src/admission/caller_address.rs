//! The address that the current request comes from. It belongs to the task of the request, as its timings do.

use std::net::{IpAddr, Ipv4Addr};

tokio::task_local! {
    static CURRENT: IpAddr;
}

/// Runs `future` for a request from `address`.
pub async fn coming_from<T>(address: IpAddr, future: impl Future<Output = T>) -> T {
    CURRENT.scope(address, future).await
}

/// The address of the current request; `0.0.0.0` outside of one.
pub fn caller_address() -> IpAddr {
    CURRENT
        .try_with(|address| *address)
        .unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}
