//! A cheap client: HTTP/1.1 on connections that stay open.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value as Json, json};
use tokio::net::TcpStream;

/// One connection to a server.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: String,
}

/// A request that can be sent repeatedly.
#[derive(Clone)]
pub struct Post {
    path: String,
    user: String,
    body: Bytes,
}

impl Post {
    pub fn new(path: &str, user: &str, body: &Json) -> Post {
        Post {
            path: path.to_owned(),
            user: user.to_owned(),
            body: body.to_string().into(),
        }
    }
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Connection {
            sender,
            host: address.to_string(),
        })
    }

    /// Sends `post` and reads the whole response.
    pub async fn post(&mut self, post: &Post) -> Result<(StatusCode, Bytes)> {
        let request = Request::post(&post.path)
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            // MCP asks for both; the other endpoints do not look at it.
            .header(ACCEPT, "application/json, text/event-stream")
            .header("x-coord-user", &post.user)
            .body(Full::new(post.body.clone()))?;
        self.send(request).await
    }

    /// Requests `path` with a bearer token.
    pub async fn get(&mut self, path: &str, token: &str) -> Result<(StatusCode, Bytes)> {
        let request = Request::get(path)
            .header(HOST, &self.host)
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .body(Full::default())?;
        self.send(request).await
    }

    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<(StatusCode, Bytes)> {
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }

    /// Sends `post` and returns the response, whose status must be 200.
    pub async fn must(&mut self, post: &Post) -> Result<Json> {
        let (status, body) = self.post(post).await.with_context(|| post.path.clone())?;
        ensure!(
            status == StatusCode::OK,
            "{} answered {status}: {}",
            post.path,
            String::from_utf8_lossy(&body)
        );
        Ok(serde_json::from_slice(&body)?)
    }
}

/// The repository and commit that requests are about.
#[derive(Clone)]
pub struct Subject {
    pub repo_url: String,
    pub head: String,
}

impl Subject {
    fn body(&self, files: &[String]) -> Json {
        json!({"repo_url": self.repo_url, "branch": "main", "file_paths": files, "agent_head": self.head})
    }

    pub fn check(&self, user: &str, files: &[String]) -> Post {
        Post::new("/api/check_status", user, &self.body(files))
    }

    /// A release without a push.
    pub fn abandon(&self, user: &str, files: &[String]) -> Post {
        self.claim(user, files, "OPEN")
    }

    /// A claim with the status READING or WRITING.
    pub fn claim(&self, user: &str, files: &[String], status: &str) -> Post {
        let mut body = self.body(files);
        body["status"] = json!(status);
        body["message"] = json!("Moving the parser to the new tokens");
        body["abandon"] = json!(status == "OPEN");
        Post::new("/api/post_status", user, &body)
    }
}
