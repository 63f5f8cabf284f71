//! The pages of the authorization endpoint: plain HTML without a script. Whatever a client or a person wrote is escaped.

use std::fmt::Write;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use memory_core::access::Role;

/// Asks for the password.
pub(super) struct Login<'a> {
    pub(super) client: &'a str,
    pub(super) client_id: &'a str,
    pub(super) is_of_operator: bool,
    pub(super) redirect_host: &'a str,
    pub(super) server: &'a str,
    /// The query that the page was asked for with.
    pub(super) request: &'a str,
    pub(super) csrf: &'a str,
    /// What was wrong with the last try.
    pub(super) said: Option<&'a str>,
}

/// Asks for the decision.
pub(super) struct Consent<'a> {
    pub(super) client: &'a str,
    pub(super) client_id: &'a str,
    pub(super) is_of_operator: bool,
    pub(super) redirect_host: &'a str,
    /// The role that was asked for.
    pub(super) role: &'a str,
    /// The namespace that is proposed.
    pub(super) namespace: &'a str,
    /// Those that there are.
    pub(super) known: &'a [&'a str],
    pub(super) ticket: &'a str,
    pub(super) csrf: &'a str,
    pub(super) said: Option<&'a str>,
}

pub(super) fn login(page: &Login<'_>) -> String {
    let mut html = head(&format!("Connect {}", page.client));
    who_asks(&mut html, page.client, &described(page.client_id, page.is_of_operator), page.redirect_host);
    said(&mut html, page.said);
    let _ = write!(
        html,
        "<form method=\"post\" action=\"/oauth/authorize\">\n\
         <input type=\"hidden\" name=\"csrf\" value=\"{}\">\n\
         <input type=\"hidden\" name=\"request\" value=\"{}\">\n\
         <label for=\"password\">The password of {}</label>\n\
         <input id=\"password\" name=\"password\" type=\"password\" autocomplete=\"current-password\" required autofocus>\n\
         <p class=\"hint\">What it may do is shown and decided on the next page.</p>\n\
         <button type=\"submit\">Continue</button>\n</form>\n",
        escaped(page.csrf),
        escaped(page.request),
        escaped(page.server),
    );
    html + FOOT
}

pub(super) fn consent(page: &Consent<'_>) -> String {
    let mut html = head(&format!("Allow {}?", page.client));
    who_asks(&mut html, page.client, &described(page.client_id, page.is_of_operator), page.redirect_host);
    said(&mut html, page.said);
    let _ = write!(
        html,
        "<form method=\"post\" action=\"/oauth/authorize\">\n\
         <input type=\"hidden\" name=\"csrf\" value=\"{}\">\n\
         <input type=\"hidden\" name=\"ticket\" value=\"{}\">\n\
         <fieldset>\n<legend>What it may do</legend>\n",
        escaped(page.csrf),
        escaped(page.ticket),
    );
    for (role, what) in [
        (Role::Reader, "Read what is remembered, and change nothing"),
        (Role::Writer, "Read, remember and forget"),
        (Role::Admin, "The same, and see how the installation is"),
    ] {
        let checked = if role.as_str() == page.role { " checked" } else { "" };
        let _ = writeln!(
            html,
            "<label class=\"choice\"><input type=\"radio\" name=\"role\" value=\"{role}\" required{checked}> \
             <strong>{role}</strong>: {what}</label>"
        );
    }
    let known = page.known.iter().map(|name| format!("<code>{}</code>", escaped(name))).collect::<Vec<_>>();
    let known = if known.is_empty() {
        "None has texts yet.".to_owned()
    } else {
        format!("With texts: {}.", known.join(", "))
    };
    let _ = write!(
        html,
        "</fieldset>\n\
         <label for=\"namespaces\">Namespaces that it opens, divided by commas, the default first</label>\n\
         <input id=\"namespaces\" name=\"namespaces\" value=\"{}\" required autocomplete=\"off\" spellcheck=\"false\">\n\
         <p class=\"hint\">{known}</p>\n\
         <button type=\"submit\" name=\"decision\" value=\"allow\">Allow</button>\n\
         <button type=\"submit\" name=\"decision\" value=\"deny\" class=\"other\" formnovalidate>Do not allow</button>\n</form>\n\
         <p class=\"hint\">It ends with <code>remembrancer tokens revoke</code>.</p>\n",
        escaped(page.namespace),
    );
    html + FOOT
}

/// Nothing can be decided here.
pub(super) fn problem(why: &str) -> String {
    let mut html = head("This cannot go on");
    let _ = writeln!(html, "<p>{}.</p>", escaped(why.trim_end_matches('.')));
    html + FOOT
}

/// What stands behind the name of a client.
fn described(client_id: &str, is_of_operator: bool) -> String {
    if is_of_operator {
        "a program that you have named".to_owned()
    } else if client_id.starts_with("https://") {
        format!("described at <code>{}</code>", escaped(client_id))
    } else {
        "which has named itself so".to_owned()
    }
}

/// `described` is HTML.
fn who_asks(html: &mut String, client: &str, described: &str, redirect_host: &str) {
    let _ = write!(
        html,
        "<p><strong>{}</strong>, {described}, asks to use this memory. The answer goes to:</p>\n\
         <p class=\"host\">{}</p>\n\
         <p class=\"hint\">Go on only if you have just connected it there yourself.</p>\n",
        escaped(client),
        escaped(redirect_host),
    );
}

fn said(html: &mut String, said: Option<&str>) {
    if let Some(said) = said {
        let _ = writeln!(html, "<p class=\"problem\" role=\"alert\">{}</p>", escaped(said));
    }
}

fn head(title: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"robots\" content=\"noindex\">\n\
         <title>{title} · Remembrancer</title>\n<link rel=\"stylesheet\" href=\"/oauth/style.css\">\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n"
    )
}

const FOOT: &str = "</main>\n</body>\n</html>\n";

/// Text for an element or a quoted attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

pub(super) async fn style() -> Response {
    let mut response = include_str!("style.css").into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/css; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("max-age=3600"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_escaped_wherever_it_stands() {
        let bad = "\"><script>alert('x')</script>&";
        let login = login(&Login {
            client: bad,
            client_id: &format!("https://{bad}"),
            is_of_operator: false,
            redirect_host: bad,
            server: bad,
            request: bad,
            csrf: bad,
            said: Some(bad),
        });
        let consent = consent(&Consent {
            client: bad,
            client_id: bad,
            is_of_operator: true,
            redirect_host: bad,
            role: bad,
            namespace: bad,
            known: &[bad],
            ticket: bad,
            csrf: bad,
            said: Some(bad),
        });
        for html in [login, consent, problem(bad)] {
            assert!(!html.contains("<script") && !html.contains("alert('x')"), "{html}");
            assert!(
                html.contains("&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;"),
                "{html}"
            );
        }
    }
}
