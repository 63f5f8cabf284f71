//! The tables of the sentence scanner: classes of characters and closed lists of words.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a character can do at the end of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Ends a sentence anywhere, without a space after it.
    Strong,
    /// `!`, `?` and their ligatures.
    Mark,
    Dot,
    Ellipsis,
    /// May be between a stop and the space after it.
    Closer,
    /// After it the sentence goes on.
    Joiner,
    /// May be before a word.
    Opener,
    Other,
}

pub(super) fn class(c: char) -> Class {
    match c {
        '。' | '｡' | '！' | '？' | '؟' | '۔' | '।' | '॥' | '။' | '։' | '።' => Class::Strong,
        '!' | '?' | '‼' | '⁇' | '⁈' | '⁉' | '‽' => Class::Mark,
        '.' => Class::Dot,
        '…' | '‥' => Class::Ellipsis,
        '"' | '\'' | ')' | ']' | '}' | '>' | '”' | '’' | '»' | '›' | '」' | '』' | '）' | '】' | '》'
        | '*' | '`' | '_' => Class::Closer,
        c if is_pictograph(c) => Class::Closer,
        ',' | ';' | ':' | '，' | '；' | '：' | '、' => Class::Joiner,
        '(' | '[' | '{' | '<' | '“' | '‘' | '„' | '‚' | '«' | '‹' | '「' | '『' | '（' | '【' | '《'
        | '¿' | '¡' | '#' | '•' | '–' | '—' | '-' => Class::Opener,
        _ => Class::Other,
    }
}

/// Pictographs, their joiners and variants: put after a stop like a bracket.
fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{fe0f}' | '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}')
}

/// Marks that open a word are partly those that close one.
pub(super) fn opens(c: char) -> bool {
    class(c) == Class::Opener || matches!(c, '"' | '\'' | '*' | '`' | '_' | '”' | '»' | '›')
}

/// What may follow an abbreviation's dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Abbreviation {
    /// Stands before what it belongs to and never ends a sentence: a title, "e.g.".
    Leads,
    /// Is one only before a number: "No. 5", but not "No. It failed.".
    BeforeNumber,
    /// Ends an enumeration and so, before a capital, the sentence: "etc."
    Closes,
    /// May close a sentence, which shows in the word after it: "the U.S. They", "U.S. troops".
    MayEnd,
}

/// The kind of abbreviation that `word`, without its last dot, is. A capital may replace the small letter
/// at its start; an entry with a capital is none without it: "Sun.", "the sun."
pub(super) fn abbreviation(word: &str) -> Option<Abbreviation> {
    static KINDS: LazyLock<HashMap<&str, Abbreviation>> = LazyLock::new(|| {
        let entries = ABBREVIATIONS.iter().flat_map(|(kind, words)| words.iter().map(|word| (*word, *kind)));
        entries.collect()
    });
    const LONGEST_BYTES: usize = 12;
    if word.len() > LONGEST_BYTES {
        return None;
    }
    let uncapitalised = || {
        let mut letters = word.chars();
        let first = letters.next()?;
        let lower: String = first.to_lowercase().chain(letters).collect();
        KINDS.get(lower.as_str())
    };
    let acronym = || is_acronym(word).then_some(Abbreviation::MayEnd);
    KINDS.get(word).or_else(uncapitalised).copied().or_else(acronym)
}

/// Single letters parted by dots or hyphens, also just one: `U.S.A`, `J.-C`, `J`.
fn is_acronym(word: &str) -> bool {
    word.split('.').all(|part| {
        let mut letters = part.trim_start_matches('-').chars();
        letters.next().is_some_and(is_cased) && letters.next().is_none()
    })
}

fn is_cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase()
}

/// The closed list of abbreviations: English, German, French and some of their neighbours.
pub(super) const ABBREVIATIONS: [(Abbreviation, &[&str]); 4] = [
    (
        Abbreviation::Leads,
        &[
            "mr", "mrs", "Ms", "Mx", "dr", "drs", "dra", "prof", "rev", "hon", "messrs", "Gen", "Col", "Maj",
            "Capt", "Cmdr", "Lt", "Sgt", "Cpl", "Sen", "Rep", "Gov", "Pres", "Mt", "Ft", "Fr", "Hr", "Hrn",
            "frl", "dipl", "Ing", "Mag", "mme", "mmes", "mlle", "MM", "sra", "srta", "sig", "dott", "dhr",
            "mevr", "e.g", "i.e", "eg", "ie", "cf", "vs", "viz", "approx", "incl", "excl", "resp", "esp",
            "ca", "vgl", "bzw", "z.B", "d.h", "u.a", "bzgl", "ggf", "evtl", "inkl", "exkl", "zzgl", "sog",
            "ehem", "insb", "einschl", "entspr", "bspw", "vorauss", "p.ex", "c.-à-d", "bijv", "d.w.z",
            "aprox", "p.ej", "reg",
        ],
    ),
    (
        Abbreviation::BeforeNumber,
        &[
            "no", "nos", "nr", "tab", "núm", "fig", "figs", "abb", "pp", "pag", "pág", "ch", "chap", "kap",
            "vol", "art", "abs", "op", "max", "mind", "est", "env", "apr", "ver", "vers", "geb", "gest",
        ],
    ),
    (Abbreviation::Closes, &["etc", "ibid", "usw", "usf", "u.s.w", "uvm", "ecc", "enz"]),
    (
        Abbreviation::MayEnd,
        &[
            "inc", "ltd", "corp", "co", "bros", "llc", "plc", "jr", "sr", "esq", "al", "dept", "univ",
            "assn", "ave", "blvd", "St", "Ste", "rd", "hwy", "apt", "tel", "tél", "ext", "ex", "ed", "eds",
            "hrsg", "misc", "avg", "mgmt", "govt", "orig", "abbr", "attn", "Str", "mio", "mrd", "Tsd", "Std",
            "Sek", "Jh", "Jhd", "Aufl", "Bd", "Abt", "Fa", "allg", "div", "Ph.D", "M.Sc", "B.Sc", "D.Phil",
            "pkg", "pkgs", "min", "sec", "hr", "hrs", "av", "EE.UU", "J.-C", "Jan", "Feb", "Mar", "Apr",
            "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec", "Okt", "Dez", "janv", "févr", "avr",
            "juil", "sept", "déc", "Mon", "Tue", "Tues", "Wed", "Thu", "Thur", "Thurs", "Fri", "Sat", "Sun",
            "Ud", "Uds",
        ],
    ),
];

/// Words that, with a capital, open a sentence and are hardly ever part of a name.
pub(super) fn opens_sentence(word: &str) -> bool {
    lists(OPENERS, word) || lists(WEAK_OPENERS, word)
}

/// Of those the ones that are no names of methods and classes either: "Bob.Then" but not `List.From`.
pub(super) fn opens_sentence_after_bare_dot(word: &str) -> bool {
    lists(OPENERS, word)
}

/// Nouns that German counts with a number and a dot: "am 3. Oktober", "im 19. Jahrhundert".
pub(super) fn takes_ordinal(word: &str) -> bool {
    lists(ORDINAL_NOUNS, word)
}

/// Words before a dot without a space that are the start of an identifier, not the end of a sentence.
pub(super) fn qualifies(word: &str) -> bool {
    let is_vowel = |c: char| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y') || !c.is_ascii();
    lists(QUALIFIERS, word) || !word.contains(is_vowel)
}

/// Ends of file and host names.
pub(super) fn ends_a_name(word: &str) -> bool {
    lists(NAME_ENDINGS, &word.to_lowercase())
}

/// Names of members in code: "order.Total" is an identifier, where "sentence.Second" lacks a space.
pub(super) fn is_member(word: &str) -> bool {
    lists(MEMBERS, word)
}

/// Names that are written with `!` in code, of which prose has none: `println!`, `assert_eq!`.
pub(super) fn is_macro(word: &str) -> bool {
    let is_named =
        || word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | ':'));
    lists(MACROS, word) || word.contains(['_', ':']) && is_named()
}

/// Names that people are called by: "Bob.Ann" are two of them, where `System.Text` is one name.
pub(super) fn is_given_name(word: &str) -> bool {
    lists(GIVEN_NAMES, word)
}

/// Whether it is a host name with its domain, to which the dot of the root may belong: `db.example.com.`
pub(super) fn is_host_name(word: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    let Some((rest, domain)) = word.rsplit_once('.') else { return false };
    lists(DOMAINS, &domain.to_ascii_lowercase()) && rest.split('.').all(is_label)
}

fn lists(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

const OPENERS: &str = "\
    The This These Those It Its He She We They You I There Then However Also But Our Their His Her My \
    Your Therefore Afterwards Der Das Es Er Sie Wir Dann Danach Les Elle Ils Elles Nous Vous";

const WEAK_OPENERS: &str = "\
    A An That Now Next Thus Otherwise Finally After Before When While If Since Because Although In On At \
    For From With To As Each Every All Some Most Many No Not Only Both Here What Why How Who Where Which \
    Please See Use Die Ein Eine Im Am Diese Dieser Dies Le La Il Ce Cette Un Une Puis El Los Las Una";

const ORDINAL_NOUNS: &str = "\
    Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember \
    Jahrhundert Jahrhunderts Weltkrieg Quartal Stock Platz Etage Klasse Auflage Mal";

const QUALIFIERS: &str = "\
    os io json yaml strconv self req res resp obj env app api args opts param params util utils config \
    info img elem async crypto regex uuid auth exec init repo enum";

const NAME_ENDINGS: &str = "\
    js ts jsx tsx py rs go rb php cs java sh md txt csv json yaml yml toml xml html css sql log cfg conf \
    ini exe dll zip pdf doc docx xlsx png jpg svg com net org io dev ai de fr uk eu edu gov local \
    internal";

const MEMBERS: &str = "\
    Total Subtotal Count Length Size Name Id Key Value Values Items Item Status State Type Price Amount Sum Index Date \
    Data Text Title Content Body Message Result Results Error Errors Code Email Address User Customer Parent Children \
    Next Previous Current First Last Head Tail Get Set Add Remove Delete Update Insert Save Load Open Close Read Write \
    Run Start Stop Send Receive Parse Format Render Build Create Find Filter Sort Map Select Where Connect Execute \
    Query Handle Init Reset Clear Begin Commit Rollback Enabled Version Config Options Settings Width Height Path Url";

const MACROS: &str = "\
    println eprintln eprint writeln vec dbg cfg env concat stringify bitflags anyhow sqlx";

const GIVEN_NAMES: &str = "\
    Alice Ann Anna Anne Bob Carol Charlie Chris Claire Dan Daniel Dave David Emma Eric Erin Eva Frank George Grace Hans \
    Helen Hugo Ida Ivan Jack James Jan Jane Jim Joe John Jonas Jose Julia Karl Kate Laura Lena Leo Lisa Lucy Luis Maria \
    Mark Martin Mary Max Mia Michael Mike Nina Nora Olga Oscar Otto Paul Paula Peter Pierre Rob Robert Rosa Sam Sara \
    Sarah Simon Steve Susan Theo Thomas Tim Tom Vera Victor Walter Yann Zoe";

const DOMAINS: &str = "\
    com net org io dev ai de fr uk eu edu gov local internal lan arpa app cloud info";
