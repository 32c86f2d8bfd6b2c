//! Byte streams to a Redis server: TCP, TLS over TCP, or a Unix domain socket.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::TryFutureExt;
use redis::aio::AsyncStream;
use rustls::ClientConfig;
use rustls::pki_types::{CertificateDer, ServerName};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::address::{Address, ServerAddress};
use crate::StoreError;
use crate::round_trip::{Failure, within};
use coord_runtime::root_certificates;

/// The idle time after which a connection is probed, and the interval of probes. So a subscription ends within a minute
/// after its server has vanished.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// A byte stream to the server.
pub(super) type Transport = Pin<Box<dyn AsyncStream + Send + Sync>>;

/// Makes connections to one server.
#[derive(Clone)]
pub(super) struct Dialer {
    /// The address of the server.
    pub address: Arc<Address>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    /// Time limit of a new connection, login included.
    pub limit: Duration,
}

impl Dialer {
    /// A dialer for the server at `address`. Reads the system's certificates if the address requires TLS.
    ///
    /// # Errors
    /// [`StoreError::NotConfigured`] when the host is not a valid name for TLS, or a root is not a certificate.
    pub fn new(address: Address, extra_roots: &[Vec<u8>], limit: Duration) -> Result<Self, StoreError> {
        let tls = match &address.server {
            ServerAddress::Tcp { host, is_tls: true, .. } => {
                let name = ServerName::try_from(host.clone()).map_err(|_| {
                    StoreError::NotConfigured("the host of the Redis server is not a valid name".into())
                })?;
                Some((TlsConnector::from(Arc::new(tls_config(extra_roots)?)), name))
            }
            _ => None,
        };
        Ok(Dialer {
            address: Arc::new(address),
            tls,
            limit,
        })
    }

    /// A new stream to the server, within the limit.
    pub async fn dial(&self) -> Result<Transport, Failure> {
        let opening = self
            .open()
            .map_err(|error| Failure::transient(StoreError::Unreachable(error.to_string())));
        within(self.limit, opening).await
    }

    async fn open(&self) -> std::io::Result<Transport> {
        match &self.address.server {
            ServerAddress::Tcp { host, port, .. } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                let keepalive = TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE);
                SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
                Ok(match &self.tls {
                    Some((connector, name)) => Box::pin(connector.connect(name.clone(), stream).await?),
                    None => Box::pin(stream),
                })
            }
            #[cfg(unix)]
            ServerAddress::Unix(path) => Ok(Box::pin(tokio::net::UnixStream::connect(path).await?)),
            #[cfg(not(unix))]
            ServerAddress::Unix(_) => Err(std::io::Error::from(std::io::ErrorKind::Unsupported)),
        }
    }
}

fn tls_config(extra_roots: &[Vec<u8>]) -> Result<ClientConfig, StoreError> {
    let unusable = |error: rustls::Error| StoreError::NotConfigured(format!("TLS cannot be set up: {error}"));
    // Named explicitly, because a process may have several providers and then no default.
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let trusted = extra_roots
        .iter()
        .cloned()
        .chain(root_certificates::built_in().map(<[u8]>::to_vec))
        .map(CertificateDer::from);
    let verifier =
        rustls_platform_verifier::Verifier::new_with_extra_roots(trusted, provider.clone()).map_err(unusable)?;
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}
