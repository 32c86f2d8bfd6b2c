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
    pub path: &'static str,
    pub user: String,
    pub body: Bytes,
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
        let request = Request::post(post.path)
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            // MCP asks for both; the other endpoints do not look at it.
            .header(ACCEPT, "application/json, text/event-stream")
            .header("x-coord-user", &post.user)
            .body(Full::new(post.body.clone()))?;
        self.send(request).await
    }

    /// Sends `body` to `path` as `user`, and returns the response, whose status must be 200.
    pub async fn ask(&mut self, user: &str, path: &str, body: &Json) -> Result<Json> {
        let request = Request::post(path)
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .header("x-coord-user", user)
            .body(Full::new(Bytes::from(body.to_string())))?;
        let (status, answer) = self.send(request).await.with_context(|| path.to_owned())?;
        ensure!(
            status == StatusCode::OK,
            "{path} answered {status}: {}",
            String::from_utf8_lossy(&answer)
        );
        Ok(serde_json::from_slice(&answer)?)
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
        let (status, body) = self.post(post).await.context(post.path)?;
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
        let body = self.body(files).to_string().into();
        Post {
            path: "/api/check_status",
            user: user.to_owned(),
            body,
        }
    }

    /// A claim with the status READING or WRITING.
    pub fn claim(&self, user: &str, files: &[String], status: &str) -> Post {
        self.status(user, files, status)
    }

    /// A release without a push.
    pub fn abandon(&self, user: &str, files: &[String]) -> Post {
        self.status(user, files, "OPEN")
    }

    fn status(&self, user: &str, files: &[String], status: &str) -> Post {
        let mut body = self.body(files);
        body["status"] = json!(status);
        body["message"] = json!("Moving the parser to the new tokens");
        body["abandon"] = json!(status == "OPEN");
        Post {
            path: "/api/post_status",
            user: user.to_owned(),
            body: body.to_string().into(),
        }
    }
}
