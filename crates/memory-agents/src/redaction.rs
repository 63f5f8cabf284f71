//! Secrets are taken out of texts before they are stored. What counts as one is listed in `data/secrets.txt`.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

struct Pattern {
    kind: &'static str,
    regex: Regex,
}

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    lines()
        .filter_map(|(kind, expression)| Some(Pattern { kind, regex: Regex::new(expression).ok()? }))
        .collect()
});

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("../data/secrets.txt").lines();
    lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
}

/// The kinds of secrets that are known.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    lines().map(|(kind, _)| kind)
}

/// The text with `[redacted: KIND]` in the place of each secret.
pub fn redacted(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    for Pattern { kind, regex } in PATTERNS.iter() {
        if regex.is_match(&out) {
            let replaced = regex.replace_all(&out, |found: &Captures<'_>| replaced(kind, found)).into_owned();
            out = Cow::Owned(replaced);
        }
    }
    out
}

fn replaced(kind: &str, found: &Captures<'_>) -> String {
    let whole = &found[0];
    let mark = format!("[redacted: {kind}]");
    let Some(secret) = found.name("secret") else { return mark };
    // "password: required" and "token=$TOKEN" name a secret and have none.
    let is_word = secret.as_str().chars().all(|c| c.is_alphabetic() || c == '-' || c == '_');
    if is_word || secret.as_str().starts_with(['$', '%']) || secret.as_str().starts_with("redacted:") {
        return whole.to_owned();
    }
    let start = found.get(0).map_or(0, |whole| whole.start());
    let (from, to) = (secret.start() - start, secret.end() - start);
    format!("{}{mark}{}", &whole[..from], &whole[to..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Put together here, so that no scanner of repositories takes them for real ones.
    fn secrets() -> Vec<String> {
        let part = "a1B2".repeat(12);
        vec![
            format!("AKIA{}", "A1B2".repeat(4)),
            format!("sk-ant-api03-{part}"),
            format!("sk-proj-{part}"),
            format!("ghp_{}", &part[..36]),
            format!("github_pat_{part}"),
            format!("glpat-{}", &part[..20]),
            format!("xoxb-{part}"),
            format!("AIza{}", &part[..35]),
            format!("sk_live_{part}"),
            format!("hf_{part}"),
            format!("npm_{}", &part[..36]),
            format!("pypi-{part}"),
            format!("rem_ab12_{part}"),
            format!("eyJhbGciOiJI.{part}.{part}"),
            format!("-----BEGIN RSA PRIVATE KEY-----\n{part}\n-----END RSA PRIVATE KEY-----"),
        ]
    }

    #[test]
    fn every_expression_is_one() {
        assert_eq!(PATTERNS.len(), kinds().count());
        assert!(PATTERNS.len() > 15);
    }

    #[test]
    fn secrets_are_taken_out_and_what_stands_around_them_stays() {
        for secret in secrets() {
            let text = format!("Use {secret} for the deployment.");
            let clean = redacted(&text);
            assert!(
                clean.starts_with("Use [redacted: ") && clean.ends_with("] for the deployment."),
                "{clean}"
            );
            assert!(
                !clean.contains(&secret[..secret.len().min(12)]) || secret.starts_with("-----"),
                "{clean}"
            );
        }
        for (text, clean) in [
            ("DB_PASSWORD=hunter2-9x!q", "DB_PASSWORD=[redacted: assigned secret]"),
            ("{\"api_key\": \"0123456789abc\"}", "{\"api_key\": \"[redacted: assigned secret]\"}"),
            ("postgres://ann:s3cret@db/x", "postgres://ann:[redacted: password in an address]@db/x"),
            ("Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted: authorization header]"),
        ] {
            assert_eq!(redacted(text), clean);
        }
    }

    #[test]
    fn the_guide_lists_every_kind() {
        let guide = include_str!("../../../docs/guides/agents.md").replace('\n', " ");
        let missing: Vec<&str> = kinds().filter(|kind| !guide.contains(kind)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn words_about_secrets_are_no_secrets() {
        for text in [
            "password: required",
            "The token is in the vault; token=$TOKEN.",
            "Set the API key in the settings.",
            "task-list-of-the-week and disk-usage",
            "See https://example.org/a?b=c",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}
