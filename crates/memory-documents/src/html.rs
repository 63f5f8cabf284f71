//! HTML: its text in reading order, headings and lists as in Markdown, without scripts, styles and the addresses of links.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use html2text::config;
use html2text::render::TextDecorator;

use super::{Document, DocumentError, title};

/// Lines are not broken: a paragraph is a line.
const WIDTH: usize = 100_000;
/// Where a page says how it is written.
const HEAD_BYTES: usize = 4_096;

pub(super) fn read(bytes: &[u8], max_chars: usize) -> Result<Document, DocumentError> {
    let (text, ..) = encoding(bytes).decode(bytes);
    let rendered = render(&text)?;
    let title = render(&title_source(&text)).ok().and_then(|text| title(&text));
    let mut out = String::new();
    let mut blanks = 1;
    for line in rendered.lines() {
        let line = line.trim_end();
        blanks = if line.is_empty() { blanks + 1 } else { 0 };
        if blanks > 1 {
            continue;
        }
        push_line(&mut out, line);
        out.push('\n');
    }
    let text = out.trim_end().to_owned();
    if text.chars().count() > max_chars {
        return Err(DocumentError::TooLong(max_chars));
    }
    Ok(Document { title, text, unknown: 0 })
}

/// The cells of a row are apart by many blanks; two are enough.
fn push_line(out: &mut String, line: &str) {
    let start = line.len() - line.trim_start().len();
    out.push_str(&line[..start]);
    let mut blanks = 0;
    for character in line[start..].chars() {
        blanks = if character == ' ' { blanks + 1 } else { 0 };
        if blanks <= 2 {
            out.push(character);
        }
    }
}

fn render(html: &str) -> Result<String, DocumentError> {
    let config = config::with_decorator(AsMarkdown).no_table_borders().link_footnotes(false);
    config.string_from_read(html.as_bytes(), WIDTH).map_err(|_| DocumentError::NoLayout)
}

/// What stands in the first `<title>`: text with entities, and no elements.
fn title_source(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let inside = || {
        let at = lower.find("<title")?;
        let start = at + lower[at..].find('>')? + 1;
        let end = start + lower[start..].find("</title")?;
        Some(html[start..end].replace('<', "&lt;"))
    };
    inside().unwrap_or_default()
}

/// By the mark at its beginning, by what it says, by its bytes.
fn encoding(bytes: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    let head = bytes[..bytes.len().min(HEAD_BYTES)].to_ascii_lowercase();
    let said = String::from_utf8_lossy(&head);
    let label = ["charset=", "encoding="].iter().find_map(|name| {
        let (_, rest) = said.split_once(name)?;
        let label = rest.trim_start_matches(['"', '\'']).split(['"', '\'', ';', '>', ' ', '/']).next()?;
        Encoding::for_label(label.as_bytes())
    });
    match label {
        // Nobody could have read the name in it.
        Some(label) if label == encoding_rs::UTF_16LE || label == encoding_rs::UTF_16BE => UTF_8,
        Some(label) => label,
        None if std::str::from_utf8(bytes).is_ok() => UTF_8,
        None => WINDOWS_1252,
    }
}

/// Marks what the structure of a text says, and nothing else.
struct AsMarkdown;

impl TextDecorator for AsMarkdown {
    type Annotation = ();

    fn decorate_link_start(&mut self, _url: &str) -> (String, ()) {
        (String::new(), ())
    }

    fn decorate_link_end(&mut self) -> String {
        String::new()
    }

    fn decorate_em_start(&self) -> (String, ()) {
        (String::new(), ())
    }

    fn decorate_em_end(&self) -> String {
        String::new()
    }

    fn decorate_strong_start(&self) -> (String, ()) {
        (String::new(), ())
    }

    fn decorate_strong_end(&self) -> String {
        String::new()
    }

    fn decorate_strikeout_start(&self) -> (String, ()) {
        (String::new(), ())
    }

    fn decorate_strikeout_end(&self) -> String {
        String::new()
    }

    fn decorate_code_start(&self) -> (String, ()) {
        (String::new(), ())
    }

    fn decorate_code_end(&self) -> String {
        String::new()
    }

    fn decorate_preformat_first(&self) {}

    fn decorate_preformat_cont(&self) {}

    fn decorate_image(&mut self, _src: &str, description: &str) -> (String, ()) {
        (description.to_owned(), ())
    }

    fn header_prefix(&self, level: usize) -> String {
        format!("{} ", "#".repeat(level))
    }

    fn quote_prefix(&self) -> String {
        "> ".to_owned()
    }

    fn unordered_item_prefix(&self) -> String {
        "- ".to_owned()
    }

    fn ordered_item_prefix(&self, number: i64) -> String {
        format!("{number}. ")
    }

    fn decorate_superscript_start(&self) -> (String, ()) {
        (String::new(), ())
    }

    fn decorate_superscript_end(&self) -> String {
        String::new()
    }

    fn make_subblock_decorator(&self) -> Self {
        Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(html: &str) -> String {
        read(html.as_bytes(), 10_000).expect("it is read").text
    }

    #[test]
    fn the_text_stands_in_order_and_scripts_styles_and_addresses_are_left_out() {
        let html = "<!doctype html><html><head><title>Well &amp; pump\n repair</title><style>p { color: red }</style>\
            <script>document.write('no')</script></head><body><h1>The well</h1><p>The pump is <b>broken</b>,\n see \
            <a href='https://example.org/x'>the log</a>.</p><ul><li>Buy a seal</li><li>Ask Jo&euml;l<ol><li>first</li></ol>\
            </li></ul><blockquote>Deep water</blockquote><pre>a  =  1\n  b</pre><p>x<sup>2</sup> &lt; 4&nbsp;m<br>next</p>\
            <!-- <p>hidden</p> --><img alt='a plan' src='x.png'></body></html>";
        let document = read(html.as_bytes(), 10_000).expect("it is read");
        assert_eq!(document.title.as_deref(), Some("Well & pump repair"));
        assert_eq!(
            document.text,
            "# The well\n\nThe pump is broken, see the log.\n- Buy a seal\n- Ask Joël\n  1. first\n\n> Deep water\n\n\
             a  =  1\n  b\n\nx² < 4\u{a0}m\nnext\n\na plan"
        );
    }

    #[test]
    fn a_row_of_a_table_is_a_line() {
        let html = "<table><tr><th>Part</th><th>Price</th></tr><tr><td>Seal of the large pump</td><td>3 €</td></tr>\
                    <tr><td>Pump</td><td>40 €</td></tr></table>";
        let text = text(html);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let words = |row: &'static str| row.split(' ').collect::<Vec<_>>();
        assert_eq!(
            rows,
            [words("Part Price"), words("Seal of the large pump 3 €"), words("Pump 40 €")],
            "{text}"
        );
    }

    #[test]
    fn pages_are_read_in_the_encoding_that_they_name() {
        let page = |head: &[u8], body: &[u8]| {
            let bytes = [b"<html><head>", head, b"</head><body><p>", body, b"</p>"].concat();
            read(&bytes, 1_000).expect("it is read").text
        };
        assert_eq!(page(b"<meta charset=\"iso-8859-2\">", b"\xb9koda"), "škoda");
        let long = b"<meta http-equiv='Content-Type' content='text/html; charset=Shift_JIS'>";
        assert_eq!(page(long, b"\x88\xe4\x8c\xcb"), "井戸");
        assert_eq!(page(b"", "Brunnen für alle".as_bytes()), "Brunnen für alle");
        assert_eq!(page(b"", b"f\xfcr 3 \x80"), "für 3 €");
        assert_eq!(page(b"<meta charset=utf-16>", "für".as_bytes()), "für");
        let marked: Vec<u8> = "\u{feff}<p>Grüße".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&marked, 1_000).expect("it is read").text, "Grüße");
    }

    #[test]
    fn broken_and_hostile_pages_are_read_as_far_as_they_go() {
        assert_eq!(text("<p>one<p>two<table><tr><td>three</div></b>four"), "one\n\ntwo\n\nthreefour");
        assert_eq!(text(""), "");
        assert_eq!(text("no markup at all"), "no markup at all");
        assert_eq!(read(b"<title>x", 10).expect("it is read").title, None);
        assert_eq!(read("x".repeat(11).as_bytes(), 10), Err(DocumentError::TooLong(10)));
    }
}
