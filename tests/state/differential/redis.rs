//! One connection to a redis-server. Hand-written, because the comparison needs the exact bytes of error replies, which
//! client libraries take apart.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use coord_store::Value;
use coord_test_support::real_redis::RealRedis;

/// A running redis-server, stopped when dropped.
pub struct Redis {
    connection: BufReader<TcpStream>,
    _server: RealRedis,
}

impl Redis {
    /// Starts one. None when redis-server is not installed: the test is skipped.
    pub fn start() -> Option<Redis> {
        let server = RealRedis::start(&[])?;
        let stream = TcpStream::connect(("127.0.0.1", server.port())).expect("it listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .expect("a time limit");
        Some(Redis {
            connection: BufReader::new(stream),
            _server: server,
        })
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
