//! Fields of addresses and forms. A name may come several times.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// The fields of a query or a form, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(text).into_owned().collect())
    }

    /// The first value of the name, unless it is blank.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name)?;
        Some(found.1.trim()).filter(|value| !value.is_empty())
    }

    pub(crate) fn owned(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    /// The first value of the name as it came, also a blank one.
    pub(crate) fn raw(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, value)| key == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.get(name)?.parse().ok()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Values separated by commas.
    pub(crate) fn listed(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(key, _)| key == name).flat_map(|(_, value)| value.split(','));
        values.map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned).collect()
    }

    /// The same fields as a query, with some replaced; those with an empty value are left out.
    pub(crate) fn query_with(&self, replaced: &[(&str, &str)]) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let kept = self
            .0
            .iter()
            .filter(|(key, value)| !value.is_empty() && !replaced.iter().any(|(name, _)| name == key));
        for (key, value) in kept {
            query.append_pair(key, value);
        }
        for (name, value) in replaced.iter().filter(|(_, value)| !value.is_empty()) {
            query.append_pair(name, value);
        }
        query.finish()
    }
}

impl<S: Sync> FromRequestParts<S> for Fields {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default().as_bytes()))
    }
}

/// A query of these pairs, with its question mark.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    format!("?{}", Fields::default().query_with(pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_written_again() {
        let fields = Fields::parse(b"q=a+%26+b&tags=x,+y,&id=1&id=2&empty=");
        assert_eq!((fields.get("q"), fields.get("empty"), fields.get("none")), (Some("a & b"), None, None));
        assert_eq!(fields.listed("tags"), ["x", "y"]);
        assert_eq!(fields.all("id").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(fields.query_with(&[("id", ""), ("after", "9")]), "q=a+%26+b&tags=x%2C+y%2C&after=9");
    }
}
