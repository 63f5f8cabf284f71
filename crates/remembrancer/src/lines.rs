//! The protocol in lines, as on the local socket and `stdio`: a line that is too long, broken or no message is
//! answered, since its sender waits.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::message::{self, Fault, INVALID_REQUEST, MESSAGE_MAX_BYTES, PARSE_ERROR, SMALL_MAX_BYTES};

/// What is kept of the end of a line that is too long: the id may be there.
const TAIL_BYTES: usize = 512;
/// What is kept of its beginning.
const HEAD_BYTES: usize = 4 * 1024;

/// What a line says; nothing where it need not be answered.
type Heard = Result<Option<ClientJsonRpcMessage>, Fault>;

/// A connection that carries a message a line.
pub(crate) struct Lines<R, W> {
    read: R,
    line: Line,
    // Both outlive a `receive` that is given up: what it began is finished by the next.
    hearing: Option<JoinHandle<Heard>>,
    answering: Option<JoinHandle<()>>,
    write: Arc<Mutex<Option<W>>>,
}

impl<R, W> Lines<R, W>
where
    R: AsyncBufRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(read: R, write: W) -> Self {
        Self {
            read,
            line: Line::default(),
            hearing: None,
            answering: None,
            write: Arc::new(Mutex::new(Some(write))),
        }
    }

    fn answer_fault(&mut self, fault: &Fault) {
        tracing::debug!(fault = fault.message, "a line was refused");
        let (write, mut line) = (Arc::clone(&self.write), fault.answer().to_string());
        line.push('\n');
        self.answering = Some(tokio::spawn(async move {
            let _ = write_line(&write, line.as_bytes()).await;
        }));
    }
}

async fn write_line<W: AsyncWrite + Unpin>(write: &Mutex<Option<W>>, line: &[u8]) -> io::Result<()> {
    let mut write = write.lock().await;
    let write = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    write.write_all(line).await?;
    write.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncBufRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            write_line(&write, &line).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(answering) = &mut self.answering {
                let _ = answering.await;
                self.answering = None;
            }
            let heard = if let Some(hearing) = &mut self.hearing {
                let heard = hearing.await;
                self.hearing = None;
                heard
                    .unwrap_or_else(|_| Err(Fault::new(Value::Null, INVALID_REQUEST, "it could not be read")))
            } else {
                match self.line.read(&mut self.read).await {
                    Ok(Some(Ended::Whole(line))) if line.len() > SMALL_MAX_BYTES => {
                        self.hearing = Some(tokio::spawn(hear_apart(line)));
                        continue;
                    }
                    Ok(Some(Ended::Whole(line))) => hear(&line),
                    Ok(Some(Ended::TooLong(id))) => {
                        let what = format!("the line is longer than {MESSAGE_MAX_BYTES} bytes");
                        Err(Fault::new(id, INVALID_REQUEST, &what))
                    }
                    Ok(None) => return None,
                    Err(error) => {
                        tracing::debug!(%error, "failed to read from a connection");
                        return None;
                    }
                }
            };
            match heard {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(fault) => self.answer_fault(&fault),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.take();
        Ok(())
    }
}

async fn hear_apart(line: Vec<u8>) -> Heard {
    let heard = message::apart(move || hear(&line)).await;
    heard.unwrap_or_else(|| Err(Fault::new(Value::Null, INVALID_REQUEST, "it could not be read")))
}

fn hear(line: &[u8]) -> Heard {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    message::check(line)?;
    match serde_json::from_slice(line) {
        Ok(message) => Ok(Some(message)),
        Err(_) if is_notification(line) => Ok(None),
        Err(error) => {
            let code = if error.is_data() { INVALID_REQUEST } else { PARSE_ERROR };
            Err(Fault::new(message::id_of(line), code, &error.to_string()))
        }
    }
}

/// Notifications are never answered, also unknown ones.
fn is_notification(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Envelope {
        #[expect(dead_code, reason = "only its presence counts")]
        method: IgnoredAny,
        id: Option<IgnoredAny>,
    }
    serde_json::from_slice::<Envelope>(line).is_ok_and(|envelope| envelope.id.is_none())
}

/// How a line ended.
enum Ended {
    Whole(Vec<u8>),
    /// With the id of its message, if that was found.
    TooLong(Value),
}

/// A line that is being read, in a bounded memory. What was read so far is kept here, so that reading may be given
/// up and taken up again.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    /// The end of a line that is too long; what `bytes` holds then is its beginning.
    tail: Option<Vec<u8>>,
}

impl Line {
    /// The next line without its end; `None` when there is no more.
    async fn read(&mut self, from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Ended>> {
        loop {
            let available = from.fill_buf().await?;
            if available.is_empty() {
                // What has no end is no line.
                return Ok(None);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            self.take(part);
            let consumed = part.len() + usize::from(end.is_some());
            from.consume(consumed);
            if end.is_some() {
                return Ok(Some(self.end()));
            }
        }
    }

    fn take(&mut self, part: &[u8]) {
        if self.tail.is_none() && self.bytes.len() + part.len() <= MESSAGE_MAX_BYTES {
            self.bytes.extend_from_slice(part);
            return;
        }
        let tail = self.tail.get_or_insert_with(|| {
            let last = self.bytes.len().saturating_sub(TAIL_BYTES);
            let tail = self.bytes[last..].to_vec();
            let room = HEAD_BYTES.saturating_sub(self.bytes.len());
            self.bytes.extend_from_slice(&part[..room.min(part.len())]);
            self.bytes.truncate(HEAD_BYTES);
            self.bytes.shrink_to_fit();
            tail
        });
        tail.extend_from_slice(&part[part.len().saturating_sub(TAIL_BYTES)..]);
        tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
    }

    fn end(&mut self) -> Ended {
        let bytes = std::mem::take(&mut self.bytes);
        match self.tail.take() {
            None => Ended::Whole(bytes),
            Some(tail) => Ended::TooLong(message::id_of_parts(&bytes, &tail)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn ended(text: &[u8]) -> Vec<Ended> {
        let (mut line, mut from, mut ended) = (Line::default(), text, Vec::new());
        while let Some(one) = line.read(&mut from).await.expect("it is read") {
            ended.push(one);
        }
        ended
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_dropped_and_its_id_is_found() {
        let long = "x".repeat(MESSAGE_MAX_BYTES);
        let text = format!(
            "{{\"id\":1,\"a\":\"{long}\"}}\nnext\n{{\"a\":\"{long}\",\"id\":\"two\"}}\n{{\"a\":\"{long}\"}}\nlast\nno end"
        );
        let ended = ended(text.as_bytes()).await;
        let answered: Vec<Value> = ended
            .iter()
            .map(|one| match one {
                Ended::Whole(line) => json!(String::from_utf8_lossy(line)),
                Ended::TooLong(id) => json!([id]),
            })
            .collect();
        assert_eq!(answered, [json!([1]), json!("next"), json!(["two"]), json!([null]), json!("last")]);
    }

    #[test]
    fn a_line_is_a_message_or_a_fault_with_its_id_or_needs_no_answer() {
        let code = |line: &[u8]| hear(line).expect_err("a fault").code;
        assert!(matches!(
            hear(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r"),
            Ok(Some(_))
        ));
        assert!(matches!(hear(b" \r"), Ok(None)));
        assert!(matches!(hear(br#"{"jsonrpc":"1.0","method":"textDocument/didOpen"}"#), Ok(None)));
        assert_eq!(
            (code(b"{nope"), code(b"{\"a\":\"\xff\"}"), code(b"[]")),
            (PARSE_ERROR, PARSE_ERROR, INVALID_REQUEST)
        );
        let misshapen = hear(br#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#).expect_err("a fault");
        assert_eq!((misshapen.code, misshapen.id), (INVALID_REQUEST, json!(4)));
    }
}
