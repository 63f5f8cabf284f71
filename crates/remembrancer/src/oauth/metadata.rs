//! What clients read before anything else: RFC 9728 of the resource, RFC 8414 of the built-in authorization server.

use axum::http::StatusCode;
use axum::response::Response;
use memory_core::access::Role;
use serde_json::{Value, json};

use super::{OAuth, json_response, scope_of};

pub(super) const PROTECTED_RESOURCE: &str = "/.well-known/oauth-protected-resource";
pub(super) const AUTHORIZATION_SERVER: &str = "/.well-known/oauth-authorization-server";

pub(super) fn protected_resource(oauth: &OAuth) -> Response {
    let mut body = json!({
        "resource": oauth.resource,
        "resource_name": "Remembrancer",
        "bearer_methods_supported": ["header"],
    });
    match &oauth.external {
        Some(external) => body["authorization_servers"] = json!([external.issuer()]),
        None => {
            body["authorization_servers"] = json!([oauth.public]);
            body["scopes_supported"] = scopes();
        }
    }
    json_response(StatusCode::OK, &body)
}

pub(super) fn authorization_server(oauth: &OAuth) -> Response {
    let at = |path: &str| format!("{}{path}", oauth.public);
    let body = json!({
        "issuer": oauth.public,
        "authorization_endpoint": at("/oauth/authorize"),
        "token_endpoint": at("/oauth/token"),
        "registration_endpoint": at("/oauth/register"),
        "revocation_endpoint": at("/oauth/revoke"),
        "scopes_supported": scopes(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
    });
    json_response(StatusCode::OK, &body)
}

/// Those that a client asks for; an admin's is given by the owner alone.
fn scopes() -> Value {
    json!([scope_of(Role::Reader), scope_of(Role::Writer)])
}

/// Nothing is here, said so that every client understands it.
pub(super) async fn nothing() -> Response {
    let body = json!({ "error": "not_found", "error_description": "there is nothing at this address" });
    super::open(json_response(StatusCode::NOT_FOUND, &body))
}
