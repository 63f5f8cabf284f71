//! The patterns that lines are told by.

use memory_language::calendar_words::{MONTH_ALTERNATIVES, WEEKDAY_ALTERNATIVES};

use super::patterns::Pattern;

const NAME: &str = r"@?[\p{L}][\p{L}\d_'’.-]*(?: [\p{L}][\p{L}'’.-]*){0,3}";
const TIME: &str = r"(?:(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?|\d{1,2} [A-Z][a-z]{2,8}(?: \d{4})?,?(?: at)?)[T,]?\s?)?\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?Z?(?:\s?[APap][Mm])?";

#[cfg(test)]
pub(super) static ALL: [&Pattern; 14] = [
    &BULLET, &HEADER, &LABEL, &TURN, &MARKED, &ANGLE, &ABOVE, &POST, &MOMENT, &ENTRY, &STAMPED, &LOG, &TRACE,
    &CODE,
];

pub(super) static BULLET: Pattern = Pattern::new("bullet", || {
    concat!(
        r"^(\s*)(?:(?:->|=>|[-*+•·‣◦▪–—→]|\d{1,3}[.)]|\(?[a-z]\))\s+(?:\[([ xX✓✔])\]\s*)?",
        r"|\[([ xX✓✔])\]\s+|([☐☑✅✔✓✗✘❌⬜])\s*)",
    )
    .to_owned()
});

pub(super) static HEADER: Pattern = Pattern::new("mail header", || {
    concat!(
        r"(?i)^\s*(?:\*\*|__)?(From|To|Cc|Bcc|Date|Sent|Subject|Reply-To)(?:\*\*",
        r"|__)?\s*:(?:\*\*|__)?\s*(.*)$",
    )
    .to_owned()
});

pub(super) static LABEL: Pattern = Pattern::new("label", || {
    concat!(
        r"^\s*(?:\*\*|__)?([\p{Lu}][\p{L}0-9 &/'-]{0,38}?)(?:\s*\([^)]{1,30}\))?\s*(?:\*\*",
        r"|__)?\s*:(?:\*\*|__)?\s*",
    )
    .to_owned()
});

pub(super) static TURN: Pattern = Pattern::new("turn", || {
    let time = format!(r"(?:(?:\*\*)?[\[(]?(?P<time>{TIME})[\])]?(?:\*\*)?\s*[-–,]?\s*)?");
    let name =
        format!(r"(?:\*\*|__)?(?P<name>{NAME})(?:\*\*|__)?\s*(?:[\[(](?P<paren>[^\])]{{1,40}})[\])])?");
    // Some programs put a mark of the direction of writing before the day.
    format!(r"^[\s\u{{200e}}]*{time}{name}\s*(?:\*\*|__)?:(?:\*\*|__)?\s+(?P<rest>\S)")
});

/// "**kim-b** 21:37 on it", "10:02 **kim-b** on it", "*kim-b* — on it", "KB – on it": a name that stands out, without a colon.
pub(super) static MARKED: Pattern = Pattern::new("turn behind a name that stands out", || {
    let mark = r"(?:\*\*|__|\*)";
    let time = format!(r"[\[(]?{TIME}[\])]?");
    format!(
        r"^\s*(?:{time}\s+{mark}(?P<late>{NAME}){mark}\s+|{mark}(?P<name>{NAME}){mark}\s+{time}\s+|{mark}(?P<plain>{NAME}){mark}\s+[–—]\s+|(?P<initials>\p{{Lu}}{{2,3}})\s+[–—]\s+)(?P<rest>\S)"
    )
});

pub(super) static ANGLE: Pattern = Pattern::new("turn in angle brackets", || {
    format!(r"^\s*(?:[\[(]?(?P<time>{TIME})[\])]?\s*)?<(?:v )?(?P<name>{NAME})>\s*(?P<rest>\S)")
});

pub(super) static ABOVE: Pattern = Pattern::new("turn above its words", || {
    let after = format!(r"[\[(]?{TIME}[\])]?\s+(?P<late>{NAME})");
    let before = format!(
        r"(?:\*\*)?(?P<name>{NAME})(?:\*\*)?,?\s+(?:[—–•·|-]\s+)?(?:(?:Today|Yesterday) at )?[\[(]?{TIME}[\])]?"
    );
    // "**kwame-a** commented (member)" above a comment, "Lady_Pixel wrote:" above a post.
    let aside = r"(?: \([^)]{1,30}\))?";
    let comment = format!(
        r"\*\*(?P<writer>{NAME})\*\* (?:commented|replied|wrote|left a comment|opened this \w+){aside}(?: on .{{1,40}})?{aside}"
    );
    let said = format!(r"(?P<said>{NAME}) (?:wrote|writes):");
    // "— Hye-jin Park, Tue 15 Apr 2025, 20:02", "marisol-q (maintainer), Oct 27".
    let month = format!(r"(?:{MONTH_ALTERNATIVES})[a-z]*\.?");
    let day = format!(
        r"(?:(?:{WEEKDAY_ALTERNATIVES})[a-z]*\.?,? )?(?:\d{{1,2}}\.? {month}|{month} \d{{1,2}})(?:,? \d{{4}})?"
    );
    let dated = format!(r"(?:[—–-]\s+)?(?P<dated>{NAME}){aside}, {day}(?:,?(?: at)? {TIME})?");
    format!(r"^\s*(?:{after}|{before}|{comment}|{said}|{dated})\s*:?\s*$")
});

/// A day, an hour, or how long ago, as programs write it beside a post.
fn moment() -> String {
    let month = format!(r"(?:{MONTH_ALTERNATIVES})[a-z]*\.?");
    let day = format!(
        r"(?:(?:{WEEKDAY_ALTERNATIVES})[a-z]*\.?,? )?(?:\d{{1,2}}\.? {month}|{month} \d{{1,2}}|\d{{4}}-\d{{2}}-\d{{2}})(?:,? \d{{4}})?(?:,?(?: at)? {TIME})?"
    );
    format!(r"(?:{day}|{TIME}|(?:\d{{1,2}}|an?) (?:minute|hour|day|week|month|year)s? ago)")
}

/// What programs write beside a name above a post: when it was, what it is, what the writer is. Words that people write in sentences
/// too stand behind a mark.
pub(super) static POST: Pattern = Pattern::new("head of a post", || {
    let kind = "yesterday|today|just now|comment|description|review|reply|answer|question|opened|edited|author|member|owner|maintainer|contributor|collaborator|moderator|admin";
    let moment = moment();
    let did = format!(
        r"(?:opened|reviewed|commented|replied|wrote|posted|asked|answered|approved)(?: this (?:pull request|merge request|issue|thread|post|comment|change|patch|ticket|pr))?(?:(?: on)? {moment}|:)?"
    );
    let beside = format!(
        r"(?: <[^>]{{3,60}}>|,? \((?:{kind})\)|,? (?P<did>{did})|,? (?:[·•|—–-] |on )?{moment}|,? [·•|—–-] (?:{kind})|, on [a-z]+ [\d/#]+)"
    );
    // "**Comment 7** Kim", "**Post 8 – Kim**".
    let numbered =
        r"(?:\*\*|__|\*)?(?i:post|comment|reply|message) #?\d{1,4}(?:(?:\*\*|__|\*)\s*)?(?:\s*[–—:·|-])?\s+";
    // As few words as will do: "commented" is none of a name.
    format!(
        r"^\s*(?:[▸▶►\u{{BB}}]\s*)?(?P<by>(?i:(?:comment|posted|reply|review) by |from: )|{numbered})?(?P<mark>\*\*|__|\*|`)?@?(?P<name>{NAME}?)(?:\*\*|__|\*|`)?(?P<beside>{beside}*)(?: \([^)]{{1,30}}\))?\s*$"
    )
});

pub(super) static MOMENT: Pattern =
    Pattern::new("moment of a post", || format!(r"^\s*[\[(]?{}[\])]?\s*$", moment()));

pub(super) static ENTRY: Pattern = Pattern::new("dated entry", || {
    let month = format!(r"(?:{MONTH_ALTERNATIVES})[a-z]*");
    let weekday = format!(r"(?:{WEEKDAY_ALTERNATIVES})[a-z]*");
    let day = [
        r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?\.?",
        &format!(r"\d{{1,2}}\.?\s+{month}\.?(?:\s+\d{{4}})?"),
        &format!(r"{month}\.?\s+\d{{1,2}}(?:,?\s+\d{{4}})?"),
        r"\d{1,2}:\d{2}",
        &weekday,
    ]
    .join("|");
    let time = r"(?:[ ,T]+\d{1,2}[:.]\d{2}(?::\d{2})?(?:\s?[ap]m)?)?[\])]?(?:\s*[-–—:|]\s+|\s{2,}|\t|\]\s+)";
    format!(r"^\s*[\[(]?(?:{weekday}\.?,?\s+)?(?:{day}){time}")
});

pub(super) static STAMPED: Pattern = Pattern::new("stamped notice", || {
    r"^[\s\u{200e}]*\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp][Mm])?\]? ?[-–]? "
        .to_owned()
});

pub(super) static LOG: Pattern = Pattern::new("log line", || {
    concat!(
            r#"^\s*\[?(?:\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}:\d{2}\S*\]?\s+(?:\[[^\]]*\]\s*)*(?:INFO"#,
            r#"|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|CRITICAL|NOTICE)\b|[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \S+ \S+"#,
            r#"|(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)[ :\]])|"(?:GET"#,
            r#"|POST|PUT|DELETE) /|^\s*\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}[.,]\d+Z?\s"#,
        ).to_owned()
});

pub(super) static TRACE: Pattern = Pattern::new("stack trace", || {
    r#"^(?:Traceback |\s+at [\w.$<>]+\(|\s*File "[^"]+", line \d+|\s*Caused by: )"#.to_owned()
});

pub(super) static CODE: Pattern = Pattern::new("code", || {
    concat!(
        r#"^\s*(?:(?:async )?def \w+\(|class \w+[(:{ ].*[:{]$|import [\w.{*]+"#,
        r#"|from [\w.]+ import |#include|(?:pub |export |static |async |private "#,
        r#"|public |protected )*(?:fn|func|function|const|let|var|struct"#,
        r#"|enum|impl|interface|package|namespace|void|int) [\w<(*&{].*[;{()=,]"#,
        r#"|return\b.*[;)\w]$|(?:if|for|while|elif|except|with|try|else)\b.*:$"#,
        r#"|(?:if|for|while|switch|catch)\s?\(.*|[})\]];?,?$|@\w+(?:\(.*\))?$"#,
        r#"|\$ \w|//|/\*|\*/|"""|<[/!?a-z][^>]*>|"[^"]+"\s*:\s*["\[{\d]|(?i:select"#,
        r#"|insert into|update|delete from|create table|alter table) .*;?$)"#,
        r#"|[;{]\s*$|^\s*[\w.\[\]"']+\s*[-+*/]?=\s*\S|\w\(.*\)\s*$|^\s*assert "#,
    )
    .to_owned()
});
