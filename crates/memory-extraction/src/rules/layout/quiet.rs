//! Lines that are not the author's own words: mail headers, code, logs, quoted replies and signatures.

use super::super::lines::{
    bullet, heading, is_closing, is_code, is_log, mail_header, opens_forward, opens_quote, turn,
};
use super::{Quiet, Reader};

impl Reader<'_> {
    /// Reads a block of mail headers at the top; returns the line after it.
    pub(super) fn mail_headers(&mut self) -> usize {
        let Some(first) = (0..self.lines.len().min(10)).find(|at| !self.text_of(*at).trim().is_empty())
        else {
            return 0;
        };
        let mut at = first;
        let mut seen = 0;
        while let Some((name, value)) = mail_header(self.text_of(at)) {
            seen += 1;
            match name.as_str() {
                "from" => self.layout.from = Some(value.to_owned()),
                "to" | "cc" | "bcc" => self.layout.to.push(value.to_owned()),
                "date" | "sent" => self.layout.date = Some(value.to_owned()),
                _ => {}
            }
            at += 1;
            // A long header goes on in indented lines.
            while self.text_of(at).starts_with([' ', '\t']) && !self.text_of(at).trim().is_empty() {
                at += 1;
            }
        }
        if seen >= 2 { at } else { first }
    }

    /// Lines that are no text of the author's.
    pub(super) fn skip(&mut self, at: usize, trimmed: &str) -> bool {
        self.stays_quiet(at, trimmed) || self.becomes_quiet(at, trimmed)
    }

    /// Whether a part that is skipped goes on in this line; else it has ended.
    fn stays_quiet(&mut self, at: usize, trimmed: &str) -> bool {
        let line = self.text_of(at);
        match self.quiet {
            Quiet::Fence => {
                self.layout.hidden.push(self.lines[at].clone());
                if is_fence(trimmed) {
                    self.quiet = Quiet::No;
                }
                return true;
            }
            Quiet::Quote => return true,
            Quiet::Signature => {
                if opens_forward(line) {
                    self.quiet = Quiet::Forward;
                    self.open = false;
                    return true;
                }
                let again = opens_quote(line) || heading(line).is_some_and(|(level, _)| level < 7);
                if !again {
                    self.sign(trimmed);
                    return true;
                }
            }
            Quiet::Forward => {
                if self.forwarded_header(line) || trimmed.is_empty() {
                    return true;
                }
            }
            Quiet::No => {}
        }
        self.quiet = Quiet::No;
        false
    }

    /// Whether this line, or a part that begins with it, is skipped.
    fn becomes_quiet(&mut self, at: usize, trimmed: &str) -> bool {
        let line = self.text_of(at);
        if opens_forward(line) {
            self.quiet = Quiet::Forward;
            self.open = false;
            return true;
        }
        if is_fence(trimmed) {
            self.quiet = Quiet::Fence;
            self.open = false;
            self.layout.hidden.push(self.lines[at].clone());
            return true;
        }
        if trimmed.starts_with('>') {
            self.open = false;
            return true;
        }
        if opens_quote(line)
            || (trimmed.starts_with("On ") && self.text_of(at + 1).trim().ends_with("wrote:"))
        {
            let next = (at + 1..self.lines.len().min(at + 4))
                .map(|next| self.text_of(next).trim())
                .find(|next| !next.is_empty() && !next.ends_with("wrote:"));
            // Without marks all that follows is the earlier message.
            if !next.is_some_and(|next| next.starts_with('>')) {
                self.quiet = Quiet::Quote;
            }
            return true;
        }
        // "1. that the square be closed;" ends like code and is none.
        let sentence = bullet(line).is_some()
            || !trimmed.contains(['=', '(', '{', '<', '[']) && trimmed.split_whitespace().count() > 3;
        if is_log(line)
            || (!sentence
                && is_code(line)
                && (line.starts_with("    ") || trimmed.ends_with([';', '{', '}'])))
        {
            if turn(line).is_some_and(|turn| self.known_speakers.contains(turn.name)) {
                return false;
            }
            self.layout.hidden.push(self.lines[at].clone());
            return true;
        }
        if is_closing(line) && self.is_signature(at) {
            self.quiet = Quiet::Signature;
            self.open = false;
            return true;
        }
        trimmed.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '~')) && trimmed.len() >= 3
    }

    /// Reads a header of a forwarded message: from then on its sender speaks.
    fn forwarded_header(&mut self, line: &str) -> bool {
        let Some((name, value)) = mail_header(line) else { return false };
        if name == "from" {
            self.speaker = Some(value.to_owned());
            self.layout.people.push(value.to_owned());
        } else if matches!(name.as_str(), "to" | "cc") {
            self.layout.people.push(value.to_owned());
        }
        true
    }

    fn sign(&mut self, trimmed: &str) {
        if self.layout.signed.is_none() && !trimmed.is_empty() {
            self.layout.signed = Some(trimmed.to_owned());
        }
    }

    /// A closing is one when only few short lines follow, up to the end or an earlier message.
    fn is_signature(&self, at: usize) -> bool {
        let mut short = 0;
        for next in at + 1..self.lines.len() {
            let line = self.text_of(next).trim();
            if line.is_empty() {
                continue;
            }
            if opens_quote(line) || opens_forward(line) || line.starts_with('>') || line.starts_with("On ") {
                return true;
            }
            short += 1;
            if short > 8 || line.len() > 90 || bullet(line).is_some() || heading(line).is_some() {
                return false;
            }
        }
        true
    }
}

fn is_fence(trimmed: &str) -> bool {
    trimmed.starts_with("```") || trimmed.starts_with("~~~")
}
