//! The first connection to a database: whether there is one, and if not, the reason as a sentence for operators.
//! The address is never shown, since it has a password in it; host, port, user and database are.

use std::io::ErrorKind;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::{InvalidSetting, StoreError};

/// How long one try may take: callers get the reason within three seconds.
const TIMEOUT: Duration = Duration::from_millis(2_500);
const FORM: &str = "postgres://USER:PASSWORD@HOST:5432/DATABASE";

/// The address, or what is wrong with it.
pub(crate) fn address(url: &str) -> Result<PgConnectOptions, InvalidSetting> {
    let invalid = |message: String| Err(InvalidSetting(message));
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    match scheme {
        Some("postgres" | "postgresql") => {}
        Some(other) if other.chars().all(|c| c.is_ascii_alphanumeric() || c == '+') => {
            return invalid(format!(
                "DATABASE_URL begins with {other}://, which is no address of Postgres; it must look like {FORM}"
            ));
        }
        _ => return invalid(format!("DATABASE_URL is no address; it must look like {FORM}")),
    }
    PgConnectOptions::from_str(url).or_else(|error| {
        invalid(format!("DATABASE_URL cannot be read ({}); it must look like {FORM}, with signs such as @ or / in a password as %40 or %2F", reason(&error, url)))
    })
}

/// The address with the password that a file has, unless it has one itself.
pub(crate) fn with_password(url: &str, file: &Path) -> Result<String, InvalidSetting> {
    let Ok(mut address) = url::Url::parse(url) else { return Ok(url.to_owned()) };
    if address.password().is_some() {
        return Ok(url.to_owned());
    }
    let text = std::fs::read_to_string(file).map_err(|error| {
        InvalidSetting(format!("DATABASE_PASSWORD_FILE {} cannot be read: {error}", file.display()))
    })?;
    let password = text.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(InvalidSetting(format!(
            "DATABASE_PASSWORD_FILE {} is empty; write the password into it",
            file.display()
        )));
    }
    address.set_password(Some(password)).map_err(|()| {
        InvalidSetting(format!(
            "DATABASE_URL names no host that a password could be for; it must look like {FORM}"
        ))
    })?;
    Ok(address.into())
}

/// Connects once and lets go. Fails with a sentence that says why, and whether waiting may help.
pub(crate) async fn try_once(options: &PgConnectOptions) -> Result<(), StoreError> {
    match tokio::time::timeout(TIMEOUT, options.connect()).await {
        Ok(Ok(connection)) => {
            let _ = connection.close().await;
            Ok(())
        }
        Ok(Err(error)) => Err(fault(options, &error)),
        Err(_) => {
            Err(unanswered(options, &format!("there was no answer within {:.1} s", TIMEOUT.as_secs_f32())))
        }
    }
}

/// Where the server is looked for.
fn place(options: &PgConnectOptions) -> String {
    match options.get_socket() {
        Some(folder) => format!("the socket in {}, port {}", folder.display(), options.get_port()),
        None if options.get_host().contains(':') => {
            format!("[{}]:{}", options.get_host(), options.get_port())
        }
        None => format!("{}:{}", options.get_host(), options.get_port()),
    }
}

fn unanswered(options: &PgConnectOptions, why: &str) -> StoreError {
    StoreError::Unanswered(format!(
        "the database at {} cannot be reached: {why}; see that Postgres runs there and that DATABASE_URL names it",
        place(options)
    ))
}

fn fault(options: &PgConnectOptions, error: &sqlx::Error) -> StoreError {
    let place = place(options);
    let user = options.get_username();
    match error {
        // A certificate that is not trusted.
        sqlx::Error::Io(io) if io.kind() == ErrorKind::InvalidData => without_tls(&place, &io.to_string()),
        sqlx::Error::Io(io) => unanswered(options, &io_reason(options, io)),
        sqlx::Error::Database(refusal) => match refusal.code().as_deref() {
            Some("28P01") => StoreError::Unsuitable(format!(
                "the database at {place} refuses the password of the user '{user}'; correct it in DATABASE_URL"
            )),
            Some("3D000") => StoreError::Unsuitable(format!(
                "the server at {place} has no database '{}'; make it (createdb), or name another in DATABASE_URL",
                options.get_database().unwrap_or(user)
            )),
            // It starts, ends, or is full for now.
            Some("57P01" | "57P02" | "57P03" | "53300") => unanswered(options, refusal.message()),
            _ => StoreError::Unsuitable(format!(
                "the database at {place} refuses the user '{user}': {}; see DATABASE_URL and the server's pg_hba.conf",
                refusal.message()
            )),
        },
        sqlx::Error::Protocol(_) => StoreError::Unsuitable(format!(
            "what answers at {place} is not Postgres; correct host and port in DATABASE_URL"
        )),
        sqlx::Error::Tls(error) => without_tls(&place, &error.to_string()),
        other => unanswered(options, &other.to_string()),
    }
}

fn without_tls(place: &str, why: &str) -> StoreError {
    StoreError::Unsuitable(format!(
        "the database at {place} cannot be reached with TLS: {why}; DATABASE_URL takes sslmode=verify-full with \
         sslrootcert=FILE for a certificate authority of your own, and sslmode=disable within a network that you trust"
    ))
}

fn io_reason(options: &PgConnectOptions, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "nothing listens there (connection refused)".to_owned(),
        ErrorKind::NotFound => "there is no such socket".to_owned(),
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            "the connection was closed without an answer, so this may not be Postgres".to_owned()
        }
        _ if error.to_string().contains("lookup address") => {
            format!("the name {} is not known", options.get_host())
        }
        _ => error.to_string(),
    }
}

/// An error of the driver without what could show the password.
fn reason(error: &sqlx::Error, url: &str) -> String {
    let message = error.to_string();
    let secret = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@')).map(|(login, _)| login);
    let password = secret.and_then(|login| login.split_once(':')).map_or("", |(_, password)| password);
    if !password.is_empty() && message.contains(password) {
        return "it is not well formed".to_owned();
    }
    message
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn an_address_of_another_kind_is_refused_without_its_password() {
        for (url, said) in [
            ("mysql://root:hunter2@db/x", "mysql://"),
            ("postgres:/hunter2", "no address"),
            ("hunter2", "no address"),
            ("postgres://u:hunter2@host:port/db", "cannot be read"),
            ("postgres://u:hunter2/x@host/db", "cannot be read"),
        ] {
            let refused = address(url).unwrap_err().to_string();
            assert!(refused.contains(said) && !refused.contains("hunter2"), "{url}: {refused}");
            assert!(refused.contains("postgres://USER"), "{refused}");
        }
        assert!(address("postgresql://u:p@host/db").is_ok());
    }

    #[test]
    fn a_password_of_a_file_comes_into_the_address_as_it_is() {
        let file = std::env::temp_dir().join(format!("remembrancer-password-{}", std::process::id()));
        std::fs::write(&file, "p@ss/w:rd %41?#\n").unwrap();
        let whole = with_password("postgres://u@host:5/db?sslmode=disable", &file).unwrap();
        let options = address(&whole).unwrap();
        assert_eq!((options.get_host(), options.get_port(), options.get_database()), ("host", 5, Some("db")));
        let read = url::Url::parse(&whole).unwrap();
        assert!(
            !whole.contains("p@ss/w")
                && read.password().is_some_and(|p| p.contains("%2541") || p.contains("%41")),
            "{whole}"
        );
        assert_eq!(with_password("postgres://u:own@host/db", &file).unwrap(), "postgres://u:own@host/db");
        std::fs::write(&file, "\n").unwrap();
        assert!(with_password("postgres://u@host/db", &file).unwrap_err().to_string().contains("is empty"));
        std::fs::remove_file(&file).unwrap();
        assert!(
            with_password("postgres://u@host/db", &file).unwrap_err().to_string().contains("cannot be read")
        );
    }

    #[tokio::test]
    async fn a_server_that_cannot_be_reached_is_named_with_the_reason() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let said = async |url: &str| try_once(&address(url).unwrap()).await.unwrap_err();
        let refused = said(&format!("postgres://u:hunter2@{free}/db")).await;
        assert!(refused.is_passing() && refused.to_string().contains("connection refused"), "{refused}");
        assert!(refused.to_string().contains(&free.to_string()) && !refused.to_string().contains("hunter2"));
        let unknown = said("postgres://u:hunter2@no-such-host.invalid/db").await.to_string();
        assert!(unknown.contains("no-such-host.invalid"), "{unknown}");
        let missing = said("postgres://u@localhost/db?host=/nonexistent").await.to_string();
        assert!(missing.contains("/nonexistent") && missing.contains("no such socket"), "{missing}");
    }

    /// Speaks TLS as Postgres does, with a certificate of its own making, and refuses the password.
    async fn tls_server(certificate: &rcgen::CertifiedKey<rcgen::KeyPair>) -> u16 {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        use tokio_rustls::rustls::{ServerConfig, crypto};
        let key = certificate.signing_key.serialize_der().try_into().unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.cert.der().clone()], key)
            .unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut asked = [0; 8];
                stream.read_exact(&mut asked).await.unwrap();
                assert_eq!(asked, [0, 0, 0, 8, 4, 210, 22, 47], "it asks for TLS first");
                stream.write_all(b"S").await.unwrap();
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let _ = stream.read(&mut [0; 1024]).await;
                let refusal = b"SFATAL\0VFATAL\0C28P01\0Mno\0\0";
                let _ = stream.write_all(b"E").await;
                let _ = stream.write_all(&(refusal.len() as u32 + 4).to_be_bytes()).await;
                let _ = stream.write_all(refusal).await;
                let _ = stream.flush().await;
            }
        });
        port
    }

    fn pem(der: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digits = der.chunks(3).flat_map(|three| {
            let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
                << (8 * (3 - three.len()));
            let used = three.len() + 1;
            (0..4).map(move |n| if n < used { DIGITS[(bits >> (18 - 6 * n) & 63) as usize] } else { b'=' })
        });
        let text = String::from_utf8(digits.collect()).unwrap();
        let lines: Vec<&str> =
            text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }

    #[tokio::test]
    async fn tls_is_spoken_with_a_certificate_that_is_trusted_and_with_no_other() {
        let certificate = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let port = tls_server(&certificate).await;
        let file = std::env::temp_dir().join(format!("remembrancer-roots-{}.pem", std::process::id()));
        std::fs::write(&file, pem(certificate.cert.der())).unwrap();
        let said = async |more: &str| {
            let url = format!("postgres://u:hunter2@localhost:{port}/db?{more}");
            try_once(&address(&url).unwrap()).await.unwrap_err().to_string()
        };
        let trusted = said(&format!("sslmode=verify-full&sslrootcert={}", file.display())).await;
        assert!(trusted.contains("refuses the password"), "it came as far as the password: {trusted}");
        let unknown = said("sslmode=verify-full").await;
        assert!(
            unknown.contains("cannot be reached with TLS") && unknown.contains("sslrootcert=FILE"),
            "{unknown}"
        );
        std::fs::remove_file(file).unwrap();
    }

    #[tokio::test]
    async fn what_is_not_postgres_and_what_says_nothing_are_told_apart() {
        let http = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let of = |listener: &tokio::net::TcpListener| {
            address(&format!("postgres://u@{}/db", listener.local_addr().unwrap())).unwrap()
        };
        let (asks_http, asks_silent) = (of(&http), of(&silent));
        tokio::spawn(async move {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let (mut stream, _) = http.accept().await.unwrap();
            let _ = stream.read(&mut [0; 1024]).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
        });
        let refused = try_once(&asks_http).await.unwrap_err();
        assert!(refused.to_string().contains("is not Postgres"), "{refused}");
        let late = try_once(&asks_silent).await.unwrap_err();
        assert!(late.is_passing() && late.to_string().contains("no answer within"), "{late}");
    }
}
