//! A TCP proxy that counts round trips: how often the client sent data after the server had.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// A proxy between a client and a server.
pub struct Proxy {
    pub address: SocketAddr,
    turns: Arc<AtomicU64>,
}

impl Proxy {
    /// Forwards all connections to `server`, for as long as the runtime lives.
    pub async fn before(server: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let proxy = Proxy {
            address: listener.local_addr()?,
            turns: Arc::default(),
        };
        let turns = Arc::clone(&proxy.turns);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(server).await else {
                    continue;
                };
                let is_clients_turn = Arc::new(AtomicBool::new(true));
                let (client_reads, client_writes) = client.into_split();
                let (server_reads, server_writes) = server.into_split();
                tokio::spawn(pass(
                    client_reads,
                    server_writes,
                    Arc::clone(&is_clients_turn),
                    Some(Arc::clone(&turns)),
                ));
                tokio::spawn(pass(server_reads, client_writes, is_clients_turn, None));
            }
        });
        Ok(proxy)
    }

    /// Round trips so far.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::SeqCst)
    }
}

/// Forwards bytes. With `turns`, they are the client's.
async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    is_clients_turn: Arc<AtomicBool>,
    turns: Option<Arc<AtomicU64>>,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        match &turns {
            Some(turns) if is_clients_turn.swap(false, Ordering::SeqCst) => {
                turns.fetch_add(1, Ordering::SeqCst);
            }
            Some(_) => {}
            None => is_clients_turn.store(true, Ordering::SeqCst),
        }
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}
