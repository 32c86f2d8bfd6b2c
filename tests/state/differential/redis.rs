//! A redis-server of our own, and one connection to it. Hand-written, because the comparison needs the exact bytes of
//! error replies, which client libraries take apart.

use coord::store::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running redis-server, stopped when dropped.
pub struct Redis {
    process: Child,
    connection: BufReader<TcpStream>,
    _directory: tempfile::TempDir,
}

impl Redis {
    /// Starts one. None when redis-server is not installed: the test is skipped.
    pub fn start() -> Option<Redis> {
        let directory = tempfile::tempdir().expect("a directory");
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|free| free.local_addr())
            .expect("a free port")
            .port();
        let started = Command::new("redis-server")
            .args([
                "--port",
                &port.to_string(),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
            ])
            .current_dir(directory.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut process = match started {
            Ok(process) => process,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                coord_test_support::skipping::skip("redis-server is not installed");
                return None;
            }
            Err(error) => panic!("redis-server cannot be started: {error}"),
        };
        for _ in 0..400 {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                stream
                    .set_read_timeout(Some(Duration::from_secs(30)))
                    .expect("a time limit");
                return Some(Redis {
                    process,
                    connection: BufReader::new(stream),
                    _directory: directory,
                });
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = process.kill();
        panic!("redis-server did not listen on port {port}");
    }

    /// The answer to one command.
    pub fn ask(&mut self, words: &[Vec<u8>]) -> Value {
        let mut text = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            text.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            text.extend_from_slice(word);
            text.extend_from_slice(b"\r\n");
        }
        self.connection
            .get_mut()
            .write_all(&text)
            .expect("redis-server takes the command");
        self.reply()
    }

    fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        self.connection
            .read_until(b'\n', &mut line)
            .expect("redis-server answers");
        assert!(line.ends_with(b"\r\n"), "redis-server closed the connection");
        line.truncate(line.len() - 2);
        line
    }

    fn reply(&mut self) -> Value {
        let line = self.line();
        let text = String::from_utf8_lossy(&line[1..]).into_owned();
        let number = || text.parse::<i64>().expect("a number");
        match line[0] {
            b'+' => Value::Status(text),
            b'-' => Value::Error(text),
            b':' => Value::Int(number()),
            b'$' | b'*' if number() < 0 => Value::Nil,
            b'$' => {
                let mut bytes = vec![0; number() as usize + 2];
                self.connection.read_exact(&mut bytes).expect("the whole string");
                bytes.truncate(bytes.len() - 2);
                Value::Bulk(bytes)
            }
            b'*' => Value::Array((0..number()).map(|_| self.reply()).collect()),
            other => panic!("not a reply: {other}"),
        }
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
