//! Texts with HTML or links of Markdown in them, as a browser shows them, and where what is shown stands in the text.

mod links;
mod tags;

use std::borrow::Cow;
use std::collections::HashSet;

use memory_core::event::Extraction;
use memory_core::ports::SourceText;
use memory_language::text::{CharIndex, CharSpan};
use tags::{Instead, Tag, reference};

/// A source as it is read.
pub(super) struct Shown<'a> {
    original: &'a SourceText,
    pub(super) source: Cow<'a, SourceText>,
    /// By segment; of those without markup none.
    runs: Vec<Option<Vec<Run>>>,
}

impl<'a> Shown<'a> {
    pub(super) fn of(original: &'a SourceText) -> Self {
        let shown: Vec<Option<Showing>> =
            original.segments.iter().map(|segment| Showing::of(&segment.text)).collect();
        if shown.iter().all(Option::is_none) {
            return Self { original, source: Cow::Borrowed(original), runs: Vec::new() };
        }
        let (mut segments, mut runs) = (Vec::new(), Vec::new());
        for (segment, shown) in original.segments.iter().zip(shown) {
            let mut segment = segment.clone();
            runs.push(shown.map(|shown| {
                segment.text = shown.text;
                shown.runs
            }));
            segments.push(segment);
        }
        Self { original, source: Cow::Owned(SourceText { segments, ..original.clone() }), runs }
    }

    /// What was found in the texts as they are shown, with the quotes of the texts themselves.
    pub(super) fn in_original(&self, mut found: Extraction) -> Extraction {
        if self.runs.is_empty() {
            return found;
        }
        let indexes: Vec<CharIndex> =
            self.original.segments.iter().map(|segment| CharIndex::new(&segment.text)).collect();
        let restore = |segment: usize, span: &mut CharSpan, quote: &mut String| {
            let Some(Some(runs)) = self.runs.get(segment) else { return };
            let original = original_span(runs, *span);
            if let Some(text) = indexes[segment].slice(&self.original.segments[segment].text, original) {
                text.clone_into(quote);
                *span = original;
            }
        };
        for evidence in found.events.iter_mut().flat_map(|event| &mut event.evidence) {
            restore(evidence.segment, &mut evidence.span, &mut evidence.quote);
        }
        for mention in found.entities.iter_mut().flat_map(|entity| &mut entity.mentions) {
            restore(mention.segment, &mut mention.span, &mut mention.surface);
        }
        found
    }
}

/// A stretch of what is shown, in characters.
#[derive(Debug)]
struct Run {
    /// Where it begins.
    at: usize,
    /// What it stands for in the text.
    from: CharSpan,
    /// Whether it is that letter by letter.
    is_copied: bool,
}

fn original_span(runs: &[Run], span: CharSpan) -> CharSpan {
    if span.start >= span.end {
        return span;
    }
    let run_of = |char: usize| runs.partition_point(|run| run.at <= char).checked_sub(1).map(|at| &runs[at]);
    let start = run_of(span.start).map_or(span.start, |run| {
        if run.is_copied { run.from.start + span.start - run.at } else { run.from.start }
    });
    let last = span.end - 1;
    let end = run_of(last).map_or(span.end, |run| {
        if run.is_copied { run.from.start + last - run.at + 1 } else { run.from.end }
    });
    CharSpan { start, end }
}

/// A text in the making, as it is shown.
#[derive(Default)]
struct Showing {
    text: String,
    /// Its length, in characters.
    length: usize,
    runs: Vec<Run>,
    /// How many characters of the original are behind.
    read: usize,
    /// Within a cell of a table, which is one line.
    is_cell: bool,
}

impl Showing {
    /// `None` if nothing in a text is markup.
    fn of(text: &str) -> Option<Self> {
        if !text.contains(['<', '&', '[']) {
            return None;
        }
        let mut shown = Self::default();
        let mut page = Page::of(text);
        let (mut from, mut at) = (0, 0);
        while let Some(found) = text[at..].find(['<', '&', '[', ']']).map(|found| at + found) {
            let Some((length, instead)) = page.markup(text, found) else {
                at = found + 1;
                continue;
            };
            shown.copy(&text[from..found]);
            let behind = &text[found + length..];
            let skipped = match instead {
                Instead::Item(_) | Instead::Cell(_) => behind.len() - behind.trim_start().len(),
                Instead::Break => usize::from(behind.starts_with('\n')),
                _ => 0,
            };
            let end = found + length + skipped;
            let instead = shown.instead(&instead);
            shown.run(&text[found..end], &instead, false);
            (from, at) = (end, end);
        }
        if shown.runs.is_empty() {
            return None;
        }
        shown.copy(&text[from..]);
        Some(shown)
    }

    fn copy(&mut self, text: &str) {
        self.run(text, text, true);
    }

    fn run(&mut self, text: &str, shown: &str, is_copied: bool) {
        let (read, length) = (text.chars().count(), shown.chars().count());
        let from = CharSpan { start: self.read, end: self.read + read };
        self.runs.push(Run { at: self.length, from, is_copied });
        self.read += read;
        self.length += length;
        self.text.push_str(shown);
    }

    /// What is shown behind all that is shown so far.
    fn instead(&mut self, instead: &Instead) -> Cow<'static, str> {
        let opens = ["- ", "> "].iter().any(|mark| {
            self.text.strip_suffix(mark).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
        });
        let breaks = |most: usize| {
            let there = self.text.bytes().rev().take(most).take_while(|byte| *byte == b'\n').count();
            if self.text.is_empty() { 0 } else { most - there }
        };
        if matches!(instead, Instead::Cell(_) | Instead::Item(_)) {
            self.is_cell = matches!(instead, Instead::Cell(""));
        }
        let (most, shown) = match *instead {
            Instead::Inline(shown) | Instead::Cell(shown) => (0, shown),
            Instead::Char(shown) => return shown.to_string().into(),
            Instead::Break | Instead::Line("") | Instead::Paragraph("") if self.is_cell => {
                (0, if self.text.ends_with(' ') { "" } else { " " })
            }
            Instead::Line("") | Instead::Paragraph("") | Instead::Item("") if opens => (0, ""),
            Instead::Break => return "\n".repeat(breaks(2).min(1)).into(),
            Instead::Line(shown) | Instead::Item(shown) => (1, shown),
            Instead::Paragraph(shown) => (2, shown),
        };
        if most == 0 { shown.into() } else { ("\n".repeat(breaks(most)) + shown).into() }
    }
}

/// What tells markup of a text from what only looks like it.
struct Page {
    /// The names of tags that are closed somewhere, in small letters.
    closed: HashSet<String>,
    /// The elements whose end does not come any more.
    unclosed: HashSet<&'static str>,
    code: Code,
}

impl Page {
    fn of(text: &str) -> Self {
        let ends = text.match_indices("</").filter_map(|(at, _)| Tag::of(&text[at..]));
        let closed = ends.map(|tag| tag.name.to_ascii_lowercase()).collect();
        Self { closed, unclosed: HashSet::new(), code: Code::default() }
    }

    /// How long the markup at a byte is, if it is some, and what is shown instead.
    fn markup(&mut self, text: &str, at: usize) -> Option<(usize, Instead)> {
        if self.code.is_at(text, at) {
            return None;
        }
        let rest = &text[at..];
        if rest.starts_with(['[', ']']) {
            return Some((links::marks(text, at)?, Instead::Inline("")));
        }
        if rest.starts_with('&') {
            let (length, shown) = reference(rest)?;
            return Some((length, Instead::Char(shown)));
        }
        if rest.starts_with("<!--") {
            return Some((self.end_of(rest, "-->")?, Instead::Inline("")));
        }
        let tag = Tag::of(rest)?;
        let name = tag.name.to_ascii_lowercase();
        let hidden = ["script", "style", "svg"].into_iter().find(|hidden| *hidden == name && !tag.is_end);
        if let Some(hidden) = hidden {
            let begins = text[..at].trim_end_matches(' ').ends_with(['\n', '>']) || at == 0;
            return Some((begins.then(|| self.end_of(rest, hidden)).flatten()?, Instead::Line("")));
        }
        self.is_meant(&tag, &name).then(|| tag.shown(&name)).flatten().map(|shown| (tag.length, shown))
    }

    /// "<b>" is a tag where there is a "</b>" or its attributes; "Vec<b>", "<time>" and a speaker "<Li>" are none.
    fn is_meant(&self, tag: &Tag<'_>, name: &str) -> bool {
        let ends_itself = matches!(name, "br" | "hr" | "wbr");
        let needs_no_end = matches!(
            name,
            "li" | "p" | "td" | "th" | "tr" | "dd" | "dt" | "tbody" | "thead" | "tfoot" | "option"
        );
        tag.is_end
            || tag.has_attributes
            || ends_itself
            || self.closed.contains(name)
            || (needs_no_end && !self.closed.is_empty())
    }

    /// The length up to the end of the first `end`: a mark, or an element's end by its name.
    fn end_of(&mut self, rest: &str, end: &'static str) -> Option<usize> {
        if self.unclosed.contains(end) {
            return None;
        }
        let found = if end == "-->" {
            rest.find(end).map(|at| at + end.len())
        } else {
            let mut ends = rest.match_indices("</").filter_map(|(at, _)| Some((at, Tag::of(&rest[at..])?)));
            let found = ends.find(|(_, tag)| tag.name.eq_ignore_ascii_case(end));
            found.map(|(at, tag)| at + tag.length)
        };
        if found.is_none() {
            self.unclosed.insert(end);
        }
        found
    }
}

/// Where a text in Markdown is code, which is no markup.
#[derive(Default)]
struct Code {
    /// Up to where it was looked for.
    read: usize,
    is_fenced: bool,
    /// Whether a backtick of the line is open.
    is_inline: bool,
    /// Whether more than spaces stands before, in the line.
    is_amid: bool,
}

impl Code {
    /// `at` grows from call to call.
    fn is_at(&mut self, text: &str, at: usize) -> bool {
        let bytes = text.as_bytes();
        while self.read < at {
            let byte = bytes[self.read];
            if !self.is_amid
                && [&b"```"[..], b"~~~"].iter().any(|fence| bytes[self.read..].starts_with(fence))
            {
                self.is_fenced = !self.is_fenced;
                self.read += 2;
            } else if byte == b'\n' {
                self.is_inline = false;
            } else if byte == b'`' {
                self.is_inline = !self.is_inline;
            }
            self.is_amid = byte != b'\n' && (self.is_amid || byte != b' ');
            self.read += 1;
        }
        self.is_fenced || self.is_inline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Showing::of(text).map_or_else(|| text.to_owned(), |shown| shown.text)
    }

    #[test]
    fn markup_is_read_as_a_browser_shows_it() {
        for (text, wanted) in [
            ("<ul>\n<li>Ann</li>\n\n<li><p>Bob &amp; Eve</p></li></ul>", "- Ann\n- Bob & Eve\n\n"),
            ("<ul><li>Ann\n<li>Bob</ul>\n\nWe agreed.", "- Ann\n- Bob\n\n\nWe agreed."),
            ("<h2 class=\"a > b\">Present</h2>Ann<br/>\nBob<br><br>Eve", "## Present\n\nAnn\nBob\n\nEve"),
            ("<div>one</div><div>two</div>", "one\ntwo\n"),
            ("It doesn&apos;t&#8217;s &#xE9; Ren&eacute;e&nbsp;B", "It doesn't’s é Renée B"),
            (
                "<p>We <strong>moved</strong> the <a href=\"https://a.example/?b=1&amp;c\">site</a>.</p>",
                "We moved the site.\n\n",
            ),
            ("docs<a href=\"x\">here</a>", "docshere"),
            (
                "<table>\n <tr>\n <td>Ann</td>\n<td><p>the minutes</p></td>\n</tr></table>",
                "| Ann | the minutes  | \n",
            ),
            ("<blockquote><p>I will.</p></blockquote><p>Thanks</p>", "> I will.\n\nThanks\n\n"),
            ("before<!-- not\nseen -->behind", "beforebehind"),
            ("<script>let a = '<b>';</SCRIPT >Hello", "Hello"),
            ("Use <code>Vec</code>", "Use `Vec`"),
            ("```\n<b>\n```\nBob &amp; <b>Eve</b>", "```\n<b>\n```\nBob & Eve"),
            ("Run `make`&nbsp;now", "Run `make` now"),
        ] {
            assert_eq!(shown(text), wanted);
        }
    }

    #[test]
    fn what_is_no_markup_stays_as_it_is() {
        for text in [
            "a < b && c > d",
            "Ann Lee <ann@mail.example> & <https://a.example>",
            "fn f<T>(v: Vec<u8>) -> Option<a> and List<Address>",
            "<name> of the <thing> at <time>, see <link>",
            "[10:02] <mark> I'll send it.\n[10:03] <Li> Thanks, <nav>",
            "Wrap it in a <pre> tag, put the <script> below.",
            "It takes <a minute -> Ann will tell it",
            "p95 <a second now.\n\nAnn wrote:\n> I will send it",
            "<!-- never closed",
            "<p never closed",
            "The `<li>` tag is `a &amp; b` and `git push <b>x</b>`",
            "```html\n<ul>\n<pre>Ann &amp; Bob</pre>\n```\n",
            "~~~\n<b>Ann</b>\n~~~",
            "R&D; AT&T &unknown; &#0; &#xD800; &",
        ] {
            assert!(Showing::of(text).is_none(), "{text}: {}", shown(text));
        }
    }

    #[test]
    fn stretches_of_what_is_shown_are_those_of_the_text() {
        let text = "é<p>Zo&euml; &#233;t <b>Bob</b> don&apos;t</p> end";
        let shown = Showing::of(text).unwrap();
        let of_shown = |part: &str| {
            let at = shown.text.find(part).unwrap();
            let start = shown.text[..at].chars().count();
            let span = original_span(&shown.runs, CharSpan { start, end: start + part.chars().count() });
            CharIndex::new(text).slice(text, span).unwrap()
        };
        assert_eq!(shown.text, "é\n\nZoë ét Bob don't\n\n end");
        assert_eq!(of_shown("Bob"), "Bob");
        assert_eq!(of_shown("Bob don't"), "Bob</b> don&apos;t");
        assert_eq!(of_shown("Zoë ét Bob"), "Zo&euml; &#233;t <b>Bob");
        assert_eq!(of_shown("end"), "end");
        assert_eq!(of_shown("é\n"), "é<p>");
        assert_eq!(original_span(&shown.runs, CharSpan { start: 0, end: 0 }), CharSpan { start: 0, end: 0 });
    }
}
