//! For tests: a client that shows exactly what came over the connection, whether it was whole or not.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// No test waits longer for an answer.
pub const LIMIT: Duration = Duration::from_secs(20);

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    /// All but the body, as it came.
    pub head: String,
    /// The body without its chunks' lengths.
    pub body: Vec<u8>,
    /// Whether the body came to its end.
    pub is_whole: bool,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as lines of JSON.
    pub fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let own = |line: &'_ str| line.split_once(": ").is_some_and(|(own, _)| own == name);
        self.head
            .lines()
            .find(|line| own(line))
            .and_then(|line| line.split_once(": "))
            .map(|(_, value)| value)
    }
}

/// A request that is put together.
pub struct Call {
    url: String,
    head: String,
    body: Vec<u8>,
}

impl Call {
    pub fn new(method: &str, url: &str) -> Self {
        let rest = url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let head = format!("{method} /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        Self { url: host.to_owned(), head, body: Vec::new() }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.head.extend([name, ": ", value, "\r\n"]);
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").bytes(body.to_string().into_bytes())
    }

    pub fn bytes(mut self, body: Vec<u8>) -> Self {
        self.body = body;
        self
    }

    /// Sends it and gives the connection.
    pub async fn open(self) -> TcpStream {
        let mut stream = TcpStream::connect(self.url).await.unwrap();
        let length = self.body.len();
        let head = format!("{}content-length: {length}\r\n\r\n", self.head);
        stream.write_all(&[head.as_bytes(), &self.body].concat()).await.unwrap();
        stream
    }

    /// Sends it and waits until the connection is closed; `None` if nothing came.
    pub async fn reply(self) -> Option<Reply> {
        let read = async {
            let mut stream = self.open().await;
            let mut bytes = Vec::new();
            // What came before the connection broke off stays.
            let _ = stream.read_to_end(&mut bytes).await;
            bytes
        };
        parse(&tokio::time::timeout(LIMIT, read).await.expect("no end within the limit"))
    }

    /// The same where an answer must come.
    pub async fn send(self) -> Reply {
        self.reply().await.expect("no answer came")
    }
}

fn parse(bytes: &[u8]) -> Option<Reply> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut rest = &bytes[end + 4..];
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut reply = Reply { status, head, body: Vec::new(), is_whole: false };
    if reply.header("transfer-encoding") == Some("chunked") {
        while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
            let length = std::str::from_utf8(&rest[..end]).unwrap();
            let length = usize::from_str_radix(length, 16).unwrap();
            rest = &rest[end + 2..];
            reply.body.extend_from_slice(&rest[..length.min(rest.len())]);
            reply.is_whole = length == 0;
            rest = rest.get(length + 2..).unwrap_or_default();
        }
        return Some(reply);
    }
    reply.body = rest.to_vec();
    let length = reply.header("content-length").map(|length| length.parse::<usize>().unwrap());
    reply.is_whole = length.is_none_or(|length| length == reply.body.len());
    Some(reply)
}
