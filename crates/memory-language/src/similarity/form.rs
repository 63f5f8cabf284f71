//! The form of a name that two spellings of it share.

use unicode_normalization::UnicodeNormalization;

/// A name taken apart.
pub(super) struct Form<'a> {
    pub(super) name: &'a str,
    /// The type in lower case.
    pub(super) kind: String,
    pub(super) is_person: bool,
    /// Everything that is no separator, in lower case, without accents.
    pub(super) spelling: String,
    /// It has letters with accents.
    pub(super) has_accents: bool,
    /// All its words, numbers and letters in order.
    pub(super) parts: Vec<String>,
    /// The parts of more than one letter without articles and legal forms.
    pub(super) plain_words: Vec<String>,
    /// The same in the singular.
    pub(super) words: Vec<String>,
    pub(super) joined: String,
    /// Characters of `joined`.
    pub(super) length: usize,
    /// Numbers in order, roman ones too.
    pub(super) numbers: Vec<String>,
    /// Single letters, in order.
    pub(super) letters: Vec<String>,
    pub(super) has_suffix: bool,
    /// The name itself if it looks like an acronym.
    pub(super) acronym: Option<String>,
    /// What its acronym would be.
    pub(super) initials: Option<String>,
    /// For a first name alone, the index of the only full name that has it.
    pub(super) full_name: Option<usize>,
}

/// Types whose names have first names and initials.
const PEOPLE: [&str; 9] =
    ["person", "human", "contact", "employee", "colleague", "author", "patient", "doctor", "developer"];

/// Legal forms at the end of a company's name.
const LEGAL_FORMS: [&str; 25] = [
    "inc",
    "incorporated",
    "corp",
    "corporation",
    "co",
    "company",
    "ltd",
    "limited",
    "llc",
    "llp",
    "plc",
    "gmbh",
    "ag",
    "kg",
    "ug",
    "sa",
    "sas",
    "sarl",
    "srl",
    "spa",
    "bv",
    "nv",
    "oy",
    "pty",
    "and",
];

/// Words in -s that are no plurals.
const SINGULARS: [&str; 9] =
    ["https", "windows", "news", "series", "species", "always", "james", "charles", "thomas"];

impl<'a> Form<'a> {
    pub(super) fn of(name: &'a str, kind: &str) -> Self {
        let kind = kind.trim().to_lowercase();
        let raw = parts(name);
        let spelling: String = raw.concat().to_lowercase();
        let numbers: Vec<String> = raw.iter().filter_map(|part| number(part)).collect();
        let lower: Vec<String> = raw.iter().map(|part| part.to_lowercase()).collect();
        let is_word = |part: &&String| number(part).is_none() && !is_letter(part);
        let mut words: Vec<String> = raw.iter().filter(is_word).map(|part| part.to_lowercase()).collect();
        let letters = lower.iter().filter(|part| is_letter(part)).cloned().collect();
        let before = words.len();
        while words.len() > 1 && words.last().is_some_and(|word| LEGAL_FORMS.contains(&word.as_str())) {
            words.pop();
        }
        if words.len() > 1 && words[0] == "the" {
            words.remove(0);
        }
        let has_suffix = words.len() < before;
        let plain_words = words;
        let words: Vec<String> = plain_words.iter().map(|word| singular(word)).collect();
        let joined = words.concat();
        let capitals = raw.len() == 1 && raw[0].chars().all(|c| c.is_ascii_uppercase());
        Self {
            is_person: PEOPLE.contains(&kind.as_str()),
            acronym: (capitals && (3..=8).contains(&spelling.len())).then(|| spelling.clone()),
            initials: (lower.len() >= 3).then(|| lower.iter().filter_map(|p| p.chars().next()).collect()),
            length: joined.chars().count(),
            name,
            kind,
            spelling,
            has_accents: !name.is_ascii() && without_accents(name) != name,
            parts: lower,
            plain_words,
            words,
            joined,
            numbers,
            letters,
            has_suffix,
            full_name: None,
        }
    }

    pub(super) fn sorted_words(&self) -> Vec<&str> {
        let mut words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        words.sort_unstable();
        words
    }

    /// Whether all the parts of `other` are among its own.
    pub(super) fn has_words_of(&self, other: &Self) -> bool {
        !other.parts.is_empty() && other.parts.iter().all(|part| self.parts.contains(part))
    }
}

/// Finds "Alice Chen" for "Alice", where no other Alice has a full name.
pub(super) fn link_first_names(forms: &mut [Form<'_>]) {
    let people = forms
        .iter()
        .enumerate()
        .filter(|(_, form)| form.is_person && form.parts.first().is_some_and(|p| !is_letter(p)));
    let mut firsts: Vec<(String, bool, usize)> =
        people.map(|(at, form)| (form.parts[0].clone(), form.parts.len() > 1, at)).collect();
    firsts.sort_unstable();
    for people in firsts.chunk_by(|a, b| a.0 == b.0) {
        let (short, full) = people.split_at(people.partition_point(|(_, is_full, _)| !is_full));
        if let [(.., only)] = full {
            for (.., at) in short {
                forms[*at].full_name = Some(*only);
            }
        }
    }
}

pub(super) fn is_letter(part: &str) -> bool {
    let mut chars = part.chars();
    chars.next().is_some_and(|c| c.is_lowercase() || c.is_uppercase()) && chars.next().is_none()
}

/// Digits without leading zeros, or the value of a roman numeral from II on.
fn number(part: &str) -> Option<String> {
    const ROMAN: [&str; 11] = ["II", "III", "IV", "VI", "VII", "VIII", "IX", "XI", "XII", "XIII", "XIV"];
    const VALUES: [&str; 11] = ["2", "3", "4", "6", "7", "8", "9", "11", "12", "13", "14"];
    if part.chars().all(char::is_numeric) {
        let digits = part.trim_start_matches('0');
        return Some(if digits.is_empty() { "0" } else { digits }.to_owned());
    }
    let at = ROMAN.iter().position(|numeral| *numeral == part)?;
    Some(VALUES[at].to_owned())
}

fn singular(word: &str) -> String {
    const MIN_PLURAL_BYTES: usize = 4;
    let no_plural = ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    if word.len() < MIN_PLURAL_BYTES || no_plural || SINGULARS.contains(&word) {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    if ["xes", "ches", "shes", "sses"].iter().any(|end| word.ends_with(end)) {
        return word[..word.len() - 2].to_owned();
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

/// Cuts at separators, between letters and digits, and at the humps of `camelCase` and `HTTPServer`.
fn parts(name: &str) -> Vec<String> {
    let name = without_accents(name).replace(['\'', '’'], "").replace('&', " and ");
    let mut parts = Vec::new();
    for run in name.split(is_separator).filter(|run| !run.is_empty()) {
        // GmbH has no hump.
        if LEGAL_FORMS.contains(&run.to_lowercase().as_str()) {
            parts.push(run.to_owned());
        } else {
            push_humps(run, &mut parts);
        }
    }
    parts
}

/// "José" as "Jose", "Ångström" as "Angstrom", "Łódź" as "Lodz".
fn without_accents(name: &str) -> String {
    if name.is_ascii() {
        return name.to_owned();
    }
    let decomposed = name.nfd().filter(|c| !matches!(c, '\u{300}'..='\u{36f}'));
    let mut plain = String::with_capacity(name.len());
    for c in decomposed {
        match c {
            'ß' => plain.push_str("ss"),
            'ø' => plain.push('o'),
            'Ø' => plain.push('O'),
            'ł' => plain.push('l'),
            'Ł' => plain.push('L'),
            'đ' => plain.push('d'),
            'Đ' => plain.push('D'),
            'ı' => plain.push('i'),
            'æ' => plain.push_str("ae"),
            'Æ' => plain.push_str("Ae"),
            'œ' => plain.push_str("oe"),
            'Œ' => plain.push_str("Oe"),
            other => plain.push(other),
        }
    }
    // What has no accents but is put together all the same, such as Hangul, stays as it was.
    plain.nfc().collect()
}

fn push_humps(run: &str, parts: &mut Vec<String>) {
    let mut part = String::new();
    let mut chars = run.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_small = chars.peek().is_some_and(|next| next.is_lowercase());
        let is_hump = part.chars().next_back().is_some_and(|before| {
            (before.is_numeric() != c.is_numeric())
                || (before.is_lowercase() && c.is_uppercase())
                || (before.is_uppercase() && c.is_uppercase() && next_is_small)
        });
        if is_hump {
            parts.push(std::mem::take(&mut part));
        }
        part.push(c);
    }
    parts.push(part);
}

/// `+` and `#` belong to names: C, C++ and C# are three.
fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || (c.is_ascii_punctuation() && !matches!(c, '+' | '#'))
        || matches!(c, '‐'..='―' | '·' | '•' | '“' | '”' | '„' | '«' | '»' | '…' | '、' | '。' | '（' | '）')
}
