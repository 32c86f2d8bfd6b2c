//! A minimal Redis client: sends words, reads one reply.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A connection to Redis.
pub struct RedisLink {
    stream: BufReader<TcpStream>,
}

impl RedisLink {
    pub async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(RedisLink {
            stream: BufReader::new(stream),
        })
    }

    /// Sends one command and returns its flattened reply as text. An error reply is an error.
    pub async fn ask(&mut self, words: &[&str]) -> Result<Vec<String>> {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.ask_encoded(&encode(&words)).await
    }

    /// [`RedisLink::ask`] with an encoded command.
    pub async fn ask_encoded(&mut self, command: &[u8]) -> Result<Vec<String>> {
        self.stream.write_all(command).await?;
        self.reply().await
    }

    async fn reply(&mut self) -> Result<Vec<String>> {
        let mut open = 1_usize;
        let mut reply = Vec::new();
        while open > 0 {
            open -= 1;
            let mut line = String::new();
            self.stream.read_line(&mut line).await?;
            let line = line.trim_end();
            match line.split_at_checked(1).context("Redis has gone")? {
                ("*", count) => open += count.parse::<usize>().unwrap_or_default(),
                ("$", "-1") => reply.push(String::new()),
                ("$", length) => {
                    let mut bytes = vec![0; length.parse::<usize>()? + 2];
                    self.stream.read_exact(&mut bytes).await?;
                    bytes.truncate(bytes.len() - 2);
                    reply.push(String::from_utf8(bytes)?);
                }
                ("-", error) => bail!("Redis says {error}"),
                (_, text) => reply.push(text.to_owned()),
            }
        }
        Ok(reply)
    }

    /// Sends `count` encoded commands together, and reads their replies. An error reply is an error.
    pub async fn pipeline(&mut self, commands: &[u8], count: usize) -> Result<()> {
        self.stream.write_all(commands).await?;
        for _ in 0..count {
            self.reply().await?;
        }
        Ok(())
    }

    pub async fn forget_calls(&mut self) -> Result<()> {
        self.ask(&["CONFIG", "RESETSTAT"]).await?;
        Ok(())
    }
}

/// A command in its wire format.
pub fn encode(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend(format!("${}\r\n", word.len()).bytes());
        bytes.extend(*word);
        bytes.extend(b"\r\n");
    }
    bytes
}
