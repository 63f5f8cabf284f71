//! PDF: what its pages draw as characters, also invisibly, as scanners put recognised text behind pictures.

use encoding_rs::{UTF_16BE, WINDOWS_1252};
use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::{LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, TransformExt, interpret_page,
};

use super::lines::{Drawn, Lines};
use super::{Document, DocumentError, title};

/// Glyphs are drawn in thousandths of their font's size.
const UNITS: f64 = 1_000.0;
/// The width of a glyph that does not say it, in the same.
const USUAL_WIDTH: f64 = 500.0;

pub(super) fn read(bytes: Vec<u8>, max_chars: usize) -> Result<Document, DocumentError> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(_) => DocumentError::Encrypted,
        LoadPdfError::Invalid => DocumentError::Damaged,
    })?;
    let cache = InterpreterCache::new();
    let (mut text, mut chars, mut unknown) = (String::new(), 0, 0);
    for page in pdf.pages().iter() {
        let (width, height) = page.render_dimensions();
        let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let upright = page.initial_transform(true).to_kurbo();
        let settings = InterpreterSettings::default();
        let mut context = Context::new(upright, bounds, &cache, pdf.xref(), settings);
        let mut reader =
            Reader { lines: Lines::default(), unknown: 0, left: max_chars.saturating_sub(chars) };
        interpret_page(page, &mut context, &mut reader);
        if reader.lines.chars > reader.left {
            return Err(DocumentError::TooLong(max_chars));
        }
        chars += reader.lines.chars;
        unknown += reader.unknown;
        let page_text = reader.lines.into_text();
        if !page_text.is_empty() && !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&page_text);
    }
    match (text.is_empty(), unknown) {
        (true, 0) => Err(DocumentError::NoText),
        (true, _) => Err(DocumentError::NoLetters),
        (false, _) => {
            Ok(Document { title: pdf.metadata().title.as_deref().and_then(read_title), text, unknown })
        }
    }
}

/// Titles are UTF-16 or UTF-8 with a mark, or of an encoding that is almost that of Windows.
fn read_title(bytes: &[u8]) -> Option<String> {
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => UTF_16BE.decode_without_bom_handling(rest).0,
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        bytes => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
        },
    };
    title(&text)
}

/// Takes characters and draws nothing.
struct Reader {
    lines: Lines,
    unknown: u64,
    /// Characters that may still come.
    left: usize,
}

impl Reader {
    fn take(&mut self, glyph: &Glyph<'_>, to_page: Affine) {
        let text = match glyph.as_unicode() {
            Some(BfString::Char(letter)) => letter.to_string(),
            Some(BfString::String(letters)) => letters,
            None => String::new(),
        };
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        if text.is_empty() {
            self.unknown += 1;
            return;
        }
        let width = match glyph {
            Glyph::Outline(glyph) => glyph.advance_width(),
            Glyph::Type3(glyph) => glyph.advance_width(),
        };
        let at = |x: f64, y: f64| {
            let point = to_page * Point::new(x, y);
            (point.x, point.y)
        };
        let (start, end) = (at(0.0, 0.0), at(width.map_or(USUAL_WIDTH, f64::from), 0.0));
        let top = at(0.0, UNITS);
        let size = (top.0 - start.0).hypot(top.1 - start.1);
        self.lines.push(Drawn { text: plain(text), start, end, size });
    }
}

/// Letters that fonts draw as one.
fn plain(text: String) -> String {
    let apart = |c| match c {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        _ => "",
    };
    match text.chars().next().map(apart) {
        None | Some("") => text,
        Some(letters) => letters.to_owned(),
    }
}

impl Device<'_> for Reader {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for glyph in run.glyphs() {
            // More than a text may have: what follows would only cost time.
            if self.lines.chars > self.left {
                return;
            }
            self.take(glyph, props.transform * glyph.transform());
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}

    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of these objects, the first of them the catalogue, with a table of where they are.
    fn file(objects: &[String], info: Option<&str>) -> Vec<u8> {
        let mut out = b"%PDF-1.7\n".to_vec();
        let mut places = Vec::new();
        for (number, object) in objects.iter().map(String::as_str).chain(info).enumerate() {
            places.push(out.len());
            out.extend(format!("{} 0 obj\n{object}\nendobj\n", number + 1).into_bytes());
        }
        let table = out.len();
        out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1).into_bytes());
        out.extend(places.iter().flat_map(|place| format!("{place:010} 00000 n \n").into_bytes()));
        let info = info.map_or(String::new(), |_| format!("/Info {} 0 R", places.len()));
        out.extend(
            format!(
                "trailer\n<</Size {} /Root 1 0 R {info}>>\nstartxref\n{table}\n%%EOF\n",
                places.len() + 1
            )
            .into_bytes(),
        );
        out
    }

    /// Pages of Helvetica that draw this.
    fn pages(contents: &[&str], info: Option<&str>) -> Vec<u8> {
        let kids: Vec<String> = (0..contents.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
        let mut objects = vec![
            "<</Type /Catalog /Pages 2 0 R>>".to_owned(),
            format!("<</Type /Pages /Kids [{}] /Count {}>>", kids.join(" "), kids.len()),
            "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>".to_owned(),
        ];
        for (page, content) in contents.iter().enumerate() {
            objects.push(format!(
                "<</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources <</Font <</F 3 0 R>>>> /Contents {} 0 R>>",
                5 + 2 * page
            ));
            objects.push(format!("<</Length {}>>\nstream\n{content}\nendstream", content.len()));
        }
        file(&objects, info)
    }

    fn text(content: &str) -> String {
        read(pages(&[content], None), 10_000).expect("it is read").text
    }

    #[test]
    fn pages_are_read_with_their_words_lines_and_title() {
        let first = "BT /F 20 Tf 72 780 Td (The well) Tj /F 11 Tf 0 -40 Td (The pump is) Tj ( broken and must be re-) Tj \
                     0 -13 Td (paired at once.) Tj 0 -40 Td [(Ask) -300 (Jo\\353l) -280 (\\(the plumb) 20 (er\\).)] TJ ET";
        let second = "BT /F 11 Tf 72 700 Td (Second page) Tj ET";
        let document =
            read(pages(&[first, second], Some("<</Title (Well repair)>>")), 10_000).expect("it is read");
        assert_eq!(document.title.as_deref(), Some("Well repair"));
        assert_eq!(
            document.text,
            "The well\n\nThe pump is broken and must be repaired at once.\n\nAsk Joël (the plumber).\n\nSecond page"
        );
    }

    #[test]
    fn letters_that_are_placed_one_by_one_are_words_and_invisible_text_is_read() {
        let one_by_one = "BT /F 10 Tf 1 0 0 1 72 700 Tm (w) Tj 1 0 0 1 79.2 700 Tm (e) Tj 1 0 0 1 84.8 700 Tm (l) Tj \
                          1 0 0 1 87 700 Tm (l) Tj 1 0 0 1 92 700 Tm (s) Tj ET";
        assert_eq!(text(one_by_one), "well s");
        assert_eq!(text("BT 3 Tr /F 10 Tf 72 700 Td (recognised) Tj ET"), "recognised");
    }

    #[test]
    fn titles_of_every_encoding_are_read() {
        for (title, read_as) in [
            (&b"\xfe\xff\x00B\x00r\x00\xfc\x00c\x00k\x00e"[..], Some("Brücke")),
            (b"\xef\xbb\xbfBr\xc3\xbccke", Some("Brücke")),
            (b"Br\xfccke", Some("Brücke")),
            (b"  two\n lines ", Some("two lines")),
            (b" ", None),
        ] {
            assert_eq!(read_title(title).as_deref(), read_as);
        }
    }

    #[test]
    fn what_has_no_text_says_why() {
        assert_eq!(read(pages(&["0 0 100 100 re f"], None), 100), Err(DocumentError::NoText));
        assert_eq!(read(b"not a PDF at all".to_vec(), 100), Err(DocumentError::Damaged));
        assert_eq!(read(Vec::new(), 100), Err(DocumentError::Damaged));
        let long = format!("BT /F 10 Tf 72 700 Td ({}) Tj ET", "x".repeat(101));
        assert_eq!(read(pages(&[&long], None), 100), Err(DocumentError::TooLong(100)));
    }

    #[test]
    fn damaged_files_are_read_as_far_as_they_go_and_nothing_panics() {
        let whole = pages(&["BT /F 11 Tf 72 700 Td (Second page) Tj ET"; 3], Some("<</Title (x)>>"));
        // The table of places is gone.
        let cut = whole[..whole.len() - 60].to_vec();
        assert!(read(cut, 1_000).is_ok_and(|document| document.text.contains("Second page")));
        for end in (0..whole.len()).step_by(37) {
            let _ = read(whole[..end].to_vec(), 1_000);
        }
        let mut seed = 7_u64;
        for _ in 0..300 {
            let mut damaged = whole.clone();
            for _ in 0..8 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (seed >> 33) as usize % damaged.len();
                damaged[at] = (seed >> 17) as u8;
            }
            let _ = read(damaged, 1_000);
        }
    }
}
