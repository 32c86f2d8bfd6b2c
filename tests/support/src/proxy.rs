//! A proxy between a server and its Redis, which cuts connections off between a request and its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub struct Proxy {
    pub port: u16,
    loses_answers: Arc<AtomicBool>,
}

impl Proxy {
    /// In front of `port`.
    pub async fn start(port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let proxy = Proxy {
            port: listener.local_addr().expect("an address").port(),
            loses_answers: Arc::default(),
        };
        let loses_answers = Arc::clone(&proxy.loses_answers);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await {
                    tokio::spawn(pass_on(client, server, Arc::clone(&loses_answers)));
                }
            }
        });
        proxy
    }

    /// From now on, most answers end their connection.
    pub fn loses_answers(&self, does_so: bool) {
        self.loses_answers.store(does_so, Ordering::Relaxed);
    }
}

async fn pass_on(client: TcpStream, server: TcpStream, loses_answers: Arc<AtomicBool>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let requests = async {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from_client.read(&mut buffer).await {
            if to_server.write_all(&buffer[..count]).await.is_err() {
                return;
            }
        }
    };
    let answers = async {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from_server.read(&mut buffer).await {
            // Redis has carried out the request.
            if loses_answers.load(Ordering::Relaxed) && fastrand::u8(..3) > 0 {
                return;
            }
            if to_client.write_all(&buffer[..count]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = requests => {}
        () = answers => {}
    }
}
