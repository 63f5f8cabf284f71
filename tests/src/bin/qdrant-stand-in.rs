//! The stand-in for a Qdrant server as a program, for tests that run it in a container: gRPC on port 6334, and on port 6333 the
//! answer that the health check asks for. The key stands in `config/local.yaml` beside it, as the real server reads it.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use memory_tests::qdrant::StandIn;

fn main() {
    let key = std::fs::read_to_string("config/local.yaml").ok().and_then(|text| api_key(&text));
    assert!(key.is_some(), "config/local.yaml names no api_key");
    let everywhere = |port| SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    let _server = StandIn::at(everywhere(6334), key.as_deref());
    let listener = TcpListener::bind(everywhere(6333)).expect("port 6333 is free");
    for stream in listener.incoming().filter_map(Result::ok) {
        // One that says nothing is not waited for by the next.
        std::thread::spawn(move || answer(stream));
    }
}

fn answer(mut stream: TcpStream) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let _ = stream.read(&mut [0; 1024]);
    let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

fn api_key(text: &str) -> Option<String> {
    let (_, key) = text.lines().find_map(|line| line.trim().split_once("api_key:"))?;
    Some(key.trim().trim_matches('"').to_owned()).filter(|key| !key.is_empty())
}
