//! What archives and graphs are written to and read from.

use tokio::io::{AsyncBufRead, AsyncWrite};

pub type Output<'a> = &'a mut (dyn AsyncWrite + Unpin + Send);

pub type Input<'a> = &'a mut (dyn AsyncBufRead + Unpin + Send);
