//! Requests that go out to addresses which others have named: what kind of address it is, and a document fetched from it or sent
//! to it, without redirects or proxies, within a time and a size.

mod fetch;
mod place;
mod resolve;

pub use fetch::{Chosen, Fetcher, Posted, Poster, check_address, encryption, system_roots};
pub use place::{Place, place_of};
pub use resolve::{addresses_of, resolving};
