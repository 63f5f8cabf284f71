//! The tags and character references of HTML, and what is shown in their place.

/// A longer tag is none.
const TAG_MAX_BYTES: usize = 2_000;
/// So is a longer character reference.
const REFERENCE_MAX_BYTES: usize = 32;

/// What is shown instead of markup.
pub(super) enum Instead {
    Inline(&'static str),
    Char(char),
    /// The end of a line; two of them leave one empty.
    Break,
    /// Begins a line with it, but for what begins a list's item or a quote.
    Line(&'static str),
    /// The same with an empty line before.
    Paragraph(&'static str),
    /// The same of an item of a list or a row of a table: white space behind it is not shown.
    Item(&'static str),
    /// The begin or the end of a cell, likewise.
    Cell(&'static str),
}

pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    pub(super) is_end: bool,
    pub(super) has_attributes: bool,
    /// In bytes.
    pub(super) length: usize,
}

impl<'a> Tag<'a> {
    /// The tag at the head of a text.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let inner = text.strip_prefix('<')?;
        let is_end = inner.starts_with('/');
        let inner = &inner[usize::from(is_end)..];
        let name = &inner[..inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len())];
        let behind = &inner[name.len()..];
        if name.is_empty() || !behind.starts_with(|c: char| c.is_whitespace() || matches!(c, '>' | '/')) {
            return None;
        }
        let attributes = &behind[..closing(behind)?];
        let plain = attributes.trim().trim_end_matches('/');
        let has_attributes = plain.contains('=') && !plain.contains("\n\n");
        (plain.is_empty() || has_attributes).then(|| {
            let length = text.len() - behind.len() + attributes.len() + 1;
            Self { name, is_end, has_attributes, length }
        })
    }

    /// What a reader sees of it: lines and the marks at their heads as in Markdown; `None` if it is no tag of HTML.
    pub(super) fn shown(&self, name: &str) -> Option<Instead> {
        use Instead::{Break, Cell, Inline, Item, Line, Paragraph};
        let shown = match (name, self.is_end) {
            ("br", _) => Break,
            ("li", false) => Item("- "),
            ("tr", false) => Item("| "),
            ("td" | "th", false) => Cell(""),
            ("td" | "th", true) => Cell(" | "),
            ("dd" | "dt" | "li" | "tbody" | "tfoot" | "thead" | "tr", _)
            | ("dl" | "ol" | "table" | "ul", false) => Item(""),
            ("h1", false) => Paragraph("# "),
            ("h2", false) => Paragraph("## "),
            ("h3", false) => Paragraph("### "),
            ("h4" | "h5" | "h6", false) => Paragraph("#### "),
            ("blockquote", false) => Paragraph("> "),
            ("pre", _) => Line("```\n"),
            ("code" | "kbd" | "samp" | "tt", _) => Inline("`"),
            ("article" | "blockquote" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "section", _) => {
                Paragraph("")
            }
            (
                "address" | "aside" | "body" | "caption" | "center" | "details" | "div" | "dl" | "ol"
                | "table" | "ul" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "head"
                | "header" | "hr" | "html" | "iframe" | "legend" | "link" | "main" | "meta" | "nav"
                | "option" | "script" | "select" | "style" | "summary" | "svg" | "textarea" | "title"
                | "video",
                _,
            ) => Line(""),
            (
                "a" | "abbr" | "acronym" | "b" | "big" | "button" | "cite" | "col" | "colgroup" | "del"
                | "dfn" | "em" | "font" | "i" | "img" | "input" | "ins" | "label" | "mark" | "picture" | "q"
                | "s" | "small" | "source" | "span" | "strike" | "strong" | "sub" | "sup" | "time" | "u"
                | "var" | "wbr",
                _,
            ) => Inline(""),
            _ => return None,
        };
        Some(shown)
    }
}

/// Where the tag ends whose name is behind: at the first ">" that no quoted value has.
fn closing(behind: &str) -> Option<usize> {
    let mut quote = None;
    let near = behind.bytes().take(TAG_MAX_BYTES).enumerate();
    for (at, byte) in near {
        match quote {
            Some(open) if byte == open => quote = None,
            None if matches!(byte, b'"' | b'\'') && behind[..at].ends_with('=') => quote = Some(byte),
            None if byte == b'>' => return Some(at),
            None if byte == b'<' => return None,
            _ => {}
        }
    }
    None
}

/// The character reference at the head of a text: its length and the character.
pub(super) fn reference(text: &str) -> Option<(usize, char)> {
    let near = &text.as_bytes()[..text.len().min(REFERENCE_MAX_BYTES)];
    let end = near.iter().position(|byte| *byte == b';')? + 1;
    let decoded = html_escape::decode_html_entities(text.get(..end)?);
    let mut chars = decoded.chars();
    let (first, rest) = (chars.next()?, chars.next());
    let shown = if first.is_whitespace() { ' ' } else { first };
    (rest.is_none() && (shown == ' ' || !shown.is_control())).then_some((end, shown))
}
