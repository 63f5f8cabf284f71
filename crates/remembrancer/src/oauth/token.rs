//! The token endpoint (a code or a refresh token for a pair of tokens) and the revocation endpoint (RFC 7009).

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use memory_core::access::{GivenToken, TokenKind};
use memory_engine::oauth::{Exchange, NotExchanged};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::request::Parameters;
use super::{OAuth, Problem, body, json_response, peer, scope_of};

const FORM: &str = "application/x-www-form-urlencoded";

pub(super) async fn exchange(oauth: &OAuth, request: Request) -> Response {
    exchanged(oauth, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn exchanged(oauth: &OAuth, request: Request) -> Result<Response, Problem> {
    let form = form(oauth, request).await?;
    let client_id = form.needed("client_id")?;
    let resource = form.resource(oauth)?;
    let resource = resource.as_deref();
    let (given, kind, of_code) = match form.needed("grant_type")? {
        "authorization_code" => {
            let challenge = challenge_of(form.needed("code_verifier")?)?;
            (form.needed("code")?, TokenKind::Code, Some((form.get("redirect_uri"), challenge)))
        }
        "refresh_token" => (form.needed("refresh_token")?, TokenKind::Refresh, None),
        _ => {
            let why = "there are the grant types authorization_code and refresh_token";
            return Err(Problem::new("unsupported_grant_type", why));
        }
    };
    let invalid =
        || Problem::new("invalid_grant", "this code or token does not, or not any more, give tokens");
    let given = GivenToken::parse(given).filter(|given| given.kind == kind).ok_or_else(invalid)?;
    let of_code = of_code.as_ref().map(|(redirect_uri, challenge)| (*redirect_uri, challenge.as_str()));
    let proof = Exchange { client_id, resource, of_code };
    let pair = match oauth.memory().await?.oauth().exchange(&given, proof).await? {
        Ok(pair) => pair,
        Err(NotExchanged::InvalidGrant) => return Err(invalid()),
        Err(NotExchanged::InvalidTarget) => {
            return Err(Problem::new("invalid_target", "this was consented to for another resource"));
        }
    };
    let answer = json!({
        "access_token": pair.access,
        "token_type": "Bearer",
        "expires_in": pair.expires_in.as_secs(),
        "refresh_token": pair.refresh,
        "scope": scope_of(pair.role),
    });
    Ok(json_response(StatusCode::OK, &answer))
}

/// What a verifier is the proof of (RFC 7636).
fn challenge_of(verifier: &str) -> Result<String, Problem> {
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    if !(43..=128).contains(&verifier.len()) || !verifier.bytes().all(is_allowed) {
        return Err(Problem::new("invalid_grant", "code_verifier does not have the form of one"));
    }
    Ok(URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)))
}

pub(super) async fn revoke(oauth: &OAuth, request: Request) -> Response {
    revoked(oauth, request).await.unwrap_or_else(IntoResponse::into_response)
}

/// Who has a token may end it. One that is not known is ended as well.
async fn revoked(oauth: &OAuth, request: Request) -> Result<Response, Problem> {
    let form = form(oauth, request).await?;
    if let Some(given) = GivenToken::parse(form.needed("token")?) {
        oauth.memory().await?.oauth().give_back(&given, form.get("client_id")).await?;
    }
    Ok(StatusCode::OK.into_response())
}

async fn form(oauth: &OAuth, request: Request) -> Result<Parameters, Problem> {
    oauth.limits.token.begin(peer(&request))?;
    if request.headers().contains_key(header::AUTHORIZATION) {
        let why = "clients have no secret here: send client_id in the body, and no Authorization header";
        return Err(Problem { status: StatusCode::UNAUTHORIZED, ..Problem::new("invalid_client", why) });
    }
    Parameters::parse(&body(request, FORM).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_of_a_verifier_is_that_of_the_standard() {
        let challenge = challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk").expect("a verifier");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        for bad in ["short", &"x".repeat(129), &format!("{}é", "x".repeat(50))] {
            assert!(challenge_of(bad).is_err(), "{bad}");
        }
    }
}
