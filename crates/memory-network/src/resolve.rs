//! Names to addresses, all of which are admitted before one is connected to.

use std::net::{IpAddr, SocketAddr};

use memory_core::Invalid;
use reqwest::dns::{Addrs, Name, Resolving};

/// The addresses of a name, all of which may be connected to: one that may not refuses the name altogether.
pub async fn addresses_of(
    name: &str,
    admit: impl Fn(IpAddr) -> Result<(), Invalid>,
) -> Result<Vec<SocketAddr>, Invalid> {
    // The client puts in the port of the URL.
    let found = tokio::net::lookup_host((name, 0)).await;
    let found: Vec<_> = found.map_err(|_| Invalid(format!("the name {name} is not known")))?.collect();
    for address in &found {
        admit(address.ip())?;
    }
    if found.is_empty() {
        return Err(Invalid(format!("the name {name} resolves to no address")));
    }
    Ok(found)
}

/// The same for a client of [`reqwest`], which so connects to the very addresses that were admitted, on every call.
pub fn resolving(name: Name, admit: impl Fn(IpAddr) -> Result<(), Invalid> + Send + 'static) -> Resolving {
    Box::pin(async move {
        let addresses = addresses_of(name.as_str(), admit).await?;
        Ok(Box::new(addresses.into_iter()) as Addrs)
    })
}
