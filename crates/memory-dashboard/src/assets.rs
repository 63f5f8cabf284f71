//! What browsers load: our styles and scripts, and the vendored libraries. All of it is in the program.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

struct Asset {
    name: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! asset {
    ($file:literal, $content_type:expr) => {
        asset!($file, $file, $content_type)
    };
    ($name:literal, $file:literal, $content_type:expr) => {
        Asset {
            name: $name,
            content_type: $content_type,
            bytes: include_bytes!(concat!("../assets/", $file)),
        }
    };
}

const ASSETS: [Asset; 12] = [
    asset!("dashboard.css", STYLE),
    asset!("dashboard.js", SCRIPT),
    asset!("graph.js", SCRIPT),
    asset!("graph-worker.js", SCRIPT),
    asset!("icon.svg", "image/svg+xml"),
    asset!("htmx.js", "vendor/htmx-2.0.11.min.js", SCRIPT),
    asset!("uplot.js", "vendor/uplot-1.6.32.min.js", SCRIPT),
    asset!("uplot.css", "vendor/uplot-1.6.32.min.css", STYLE),
    asset!("d3-dispatch.js", "vendor/d3-dispatch-3.0.2.min.js", SCRIPT),
    asset!("d3-quadtree.js", "vendor/d3-quadtree-3.0.2.min.js", SCRIPT),
    asset!("d3-timer.js", "vendor/d3-timer-3.0.2.min.js", SCRIPT),
    asset!("d3-force.js", "vendor/d3-force-3.0.1.min.js", SCRIPT),
];

/// Of what all of them hold: an address with it never has another content.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for asset in &ASSETS {
        digest.update(asset.bytes);
    }
    hex::encode(&digest.finalize()[..6])
});

/// The address of an asset.
pub(crate) fn address(name: &str) -> String {
    format!("/ui/assets/{}/{name}", *VERSION)
}

pub(crate) async fn serve(Path((version, name)): Path<(String, String)>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut response = asset.bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    let cached = if version == *VERSION { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cached));
    response
}
