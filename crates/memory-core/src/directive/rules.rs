//! What in a sentence is a standing instruction or a preference.

use super::clauses::{self, Statement, goes_on, is_anothers, is_contact, is_reported, tells_of_another};
use super::colons::{joined, of_text, spelled_out, to_remember, with_label};
use super::conditions;
use super::ended::with_change;
use super::learned::{self, Place};
use super::once::is_meant_once;
use super::sentence::Sentence;
use super::speakers::{Around, Voice};
use super::words::list;
use super::{back, bounds, denied, heads, health, house, orders, permission, refused, wishes, without_comma};

/// A longer sentence is no statement of anybody's.
const SENTENCE_MAX: usize = 160;
/// The most words of a list's item, or of a preference that is kept as such.
const ITEM_MAX: usize = 40;

/// How likely an item of a list of preferences is one at least, and all of what is kept as one.
const LISTED_MIN: f32 = 0.2;
const ALONE_MIN: f32 = 0.05;

/// The directives of a sentence, in order.
pub(super) fn statements(sentence: &Sentence<'_>, around: Around, place: Place) -> Vec<Statement> {
    if sentence.len() == 0
        || sentence.len() > SENTENCE_MAX
        || (sentence.is_anothers && around.voice != Voice::Preference)
    {
        return Vec::new();
    }
    let is_meant = |at: usize| !matches!(sentence.word(at), Some("haha" | "lol" | "jk"));
    if !(0..sentence.len()).all(is_meant) || is_meant_once(sentence) {
        return Vec::new();
    }
    let mut found = all(sentence, around, place);
    if let Some(barred) = heads::barred_from(sentence, around.voice) {
        found.retain(|stated| stated.tokens.1 <= barred);
    }
    let mut found = denied::whole(sentence, joined(sentence, found));
    if found.is_empty() && heads::barred_from(sentence, around.voice).is_none() {
        found.extend(listed(sentence, around, place));
    }
    complete(sentence, &mut found);
    found.retain(|stated| !refused::is_refused(sentence, stated, around.voice));
    if found.is_empty() && heads::barred_from(sentence, around.voice).is_none() {
        found.extend(permission::withdrawal(sentence));
    }
    found
}

/// Takes to statements, in the order of their sentence, what stands before and behind them and belongs to them.
pub(super) fn complete(sentence: &Sentence<'_>, found: &mut [Statement]) {
    for at in 0..found.len() {
        let floor = found[..at].iter().map(|other| other.tokens.1).max().unwrap_or(0);
        with_what_is_before(sentence, &mut found[at], floor);
        let next = found.iter().map(|other| other.tokens.0).filter(|start| *start >= found[at].tokens.1);
        let ceiling = next.min().unwrap_or(sentence.len());
        found[at].tokens.1 = back::with_last_noun(sentence, found[at].tokens.1, ceiling);
        found[at].tokens.1 = bounds::with_bound_behind(sentence, found[at].tokens.1, ceiling);
        found[at].tokens.1 = with_what_follows(sentence, found[at].tokens, ceiling);
    }
    found.sort_by_key(|statement| statement.tokens);
}

/// "Since you keep giving me everything in inches, it's centimetres here": behind a reason alone, the clause that follows from it.
fn with_what_follows(sentence: &Sentence<'_>, (start, end): clauses::Tokens, ceiling: usize) -> usize {
    let is_aside = |at: usize| matches!(sentence.word(at), Some("also" | "and" | "plus" | "so" | "but"));
    let first = (start..end).find(|at| sentence.word(*at).is_some() && !is_aside(*at)).unwrap_or(start);
    let is_reason = matches!(sentence.word(first), Some("since" | "because" | "as"))
        && matches!(
            sentence.word(first + 1),
            Some("you" | "i" | "i'm" | "we" | "we're" | "he" | "she" | "they" | "it" | "it's" | "you're")
        );
    if !is_reason || sentence.mark(end) != Some(",") {
        return end;
    }
    let ends = |at: &usize| matches!(sentence.mark(*at), Some("," | ";" | "." | "!" | "?" | "–" | "—"));
    (end + 1..ceiling).find(ends).unwrap_or(ceiling)
}

/// What the rules and the model find, none of it twice.
fn all(sentence: &Sentence<'_>, around: Around, place: Place) -> Vec<Statement> {
    let allowed = permission::permission(sentence).or_else(|| permission::allowed_somewhere(sentence));
    let mut found: Vec<Statement> = allowed.into_iter().chain(to_remember(sentence)).collect();
    for start in clauses::starts(sentence) {
        if found.iter().any(|other| (other.tokens.0..other.tokens.1).contains(&start)) {
            continue;
        }
        let stated = instruction(sentence, start, around);
        found.extend(stated.filter(|stated| !found.iter().any(|other| stated.overlaps(other))));
    }
    let wishes = wishes::wishes(sentence, around.voice);
    let orders = orders::order(sentence, around, place).or_else(|| orders::of_same_user(sentence, around));
    let learned = learned::statements(sentence, place)
        .into_iter()
        .map(|stated| Statement { tokens: spelled_out(sentence, stated.tokens), ..stated });
    let rules = house::rules(sentence, around, place);
    let health = health::statement(sentence, around);
    for stated in wishes.into_iter().chain(orders).chain(rules).chain(health).chain(learned) {
        if !found.iter().any(|other| stated.overlaps(other)) {
            found.push(stated);
        }
    }
    found
}

/// Takes to a statement the condition or setting, the change and the label that stand before it.
fn with_what_is_before(sentence: &Sentence<'_>, stated: &mut Statement, floor: usize) {
    stated.tokens.0 = back::with_first_noun(sentence, stated.tokens.0, floor);
    let start = stated.tokens.0;
    let before =
        conditions::condition_before(sentence, start).or_else(|| conditions::setting_before(sentence, start));
    if let Some(condition) = before.filter(|(from, _)| *from >= floor) {
        stated.tokens.0 = condition.0;
        stated.condition.get_or_insert(condition);
    }
    stated.condition = stated.condition.or_else(|| conditions::setting_within(sentence, stated.tokens));
    stated.tokens.0 = with_change(sentence, stated.tokens.0, floor);
    stated.tokens.0 = bounds::with_bound_before(sentence, stated.tokens.0, floor);
    let said_from = stated.tokens.0;
    stated.tokens.0 = with_label(sentence, said_from, floor);
    stated.condition = stated.condition.or_else(|| of_text(sentence, (stated.tokens.0, said_from)));
    stated.tokens.0 = back::with_clause_before(sentence, stated.tokens, floor);
}

/// The bare item of a list of preferences, or a text that is kept as one: "metric units".
fn listed(sentence: &Sentence<'_>, around: Around, place: Place) -> Option<Statement> {
    let is_listed = around.is_listed && sentence.is_item;
    let may_be = is_listed || around.voice == Voice::Preference;
    let is_heading = sentence.mark(sentence.len() - 1) == Some(":");
    let words = (0..sentence.len()).filter(|at| sentence.word(*at).is_some()).count();
    (may_be
        && !is_anothers(sentence, 0)
        && !tells_of_another(sentence, (0, sentence.len()))
        && !is_contact(sentence, (0, sentence.len()))
        && !is_heading
        && !sentence.is_question()
        && (1..=ITEM_MAX).contains(&words)
        && learned::likelihood(sentence, place) >= if place.is_alone() { ALONE_MIN } else { LISTED_MIN })
    .then(|| {
        let end = sentence.len();
        let condition = conditions::leading_condition(sentence, 0)
            .or_else(|| conditions::trailing_condition(sentence, 0, end));
        Statement::new((0, end), condition)
    })
}

/// What stands before the verb of an instruction.
#[derive(Debug, Default, Clone, Copy)]
struct Lead {
    /// Where it begins, but for words like "and" and "ok".
    from: Option<usize>,
    is_standing: bool,
    /// "From Monday on": for a time.
    is_bound: bool,
    /// "Can you …": a question in form.
    is_question: bool,
    condition: Option<clauses::Tokens>,
}

fn lead(sentence: &Sentence<'_>, start: usize) -> (Lead, usize) {
    let (mut lead, mut at) = (Lead::default(), start);
    let end = sentence.len();
    while at < end {
        let standing = list("standing").at(sentence, at, end);
        let request = list("request").at(sentence, at, end);
        let filler = list("lead-in").at(sentence, at, end);
        let is_setting = list("condition").at(sentence, at, end) == 0;
        let condition = conditions::leading_condition(sentence, at)
            .filter(|_| !(is_setting && standing > 0))
            .or_else(|| without_comma::condition(sentence, at));
        let bound = bounds::bound(sentence, at).unwrap_or(0);
        if bound > at {
            lead.from.get_or_insert(at);
            lead.is_bound = true;
            at = bound + usize::from(sentence.mark(bound) == Some(","));
        } else if let Some(condition) = condition {
            lead.from.get_or_insert(at);
            lead.condition = Some(condition);
            at = condition.1 + usize::from(sentence.mark(condition.1).is_some());
        } else if standing > 0 && standing >= request.max(filler) {
            lead.from.get_or_insert(at);
            lead.is_standing = true;
            at += standing;
        } else if request > 0 && request >= filler {
            lead.from.get_or_insert(at);
            lead.is_question |= matches!(sentence.word(at), Some("can" | "could" | "would" | "will"));
            at += request;
        } else if filler > 0 {
            at += filler;
        } else if at > start && sentence.mark(at).is_some_and(|mark| matches!(mark, "," | ":" | "!" | ".")) {
            at += 1;
        } else {
            break;
        }
    }
    (lead, at)
}

/// The verb of an instruction, or the noun behind "no".
struct Core {
    is_standing: bool,
    is_negative: bool,
    verb: usize,
}

fn core(sentence: &Sentence<'_>, start: usize) -> Option<Core> {
    let (mut at, mut is_standing, mut is_negative) = (start, false, false);
    for _ in 0..4 {
        match sentence.word(at)? {
            "always" => is_standing = true,
            "never" => (is_standing, is_negative) = (true, true),
            "ever" if is_negative => is_standing = true,
            "don't" | "dont" | "not" => is_negative = true,
            "do" if sentence.word(at + 1) == Some("not") => is_negative = true,
            "only" | "just" | "please" | "also" => {}
            "stop" => {
                let is_verb = sentence.word(at + 1).is_some_and(is_gerund);
                return is_verb.then_some(Core { is_standing, is_negative: true, verb: at + 1 });
            }
            "no" | "avoid" | "skip" | "omit" => {
                return Some(Core { is_standing, is_negative: true, verb: at });
            }
            word => {
                return list("verbs").has(word).then_some(Core { is_standing, is_negative, verb: at });
            }
        }
        at += 1;
    }
    None
}

/// "adding" is of "add", "using" of "use", "putting" of "put".
fn is_gerund(word: &str) -> bool {
    let Some(stem) = word.strip_suffix("ing") else { return false };
    let verbs = list("verbs");
    let undoubled = stem.get(..stem.len().saturating_sub(1)).unwrap_or_default();
    verbs.has(stem) || verbs.has(&format!("{stem}e")) || verbs.has(undoubled) || stem.starts_with("apologi")
}

/// An instruction whose clause begins at this token.
fn instruction(sentence: &Sentence<'_>, start: usize, around: Around) -> Option<Statement> {
    let (lead, at) = lead(sentence, start);
    let said_before = list("saying").at(sentence, at, sentence.len()) > 0
        || list("saying").at(sentence, start, sentence.len()) > 0;
    if said_before || sentence.is_quoted(at) || is_reported(sentence, start) {
        return None;
    }
    let core = core(sentence, at)?;
    if !lead.is_standing && !core.is_standing && !core.is_negative && goes_on(sentence, start) {
        return None;
    }
    let (_, end) = spelled_out(sentence, (core.verb, clauses::end_of(sentence, core.verb)));
    let condition = lead.condition.or_else(|| conditions::trailing_condition(sentence, core.verb, end));
    // "For restaurants, only suggest vegetarian places."
    let is_for = at > 1
        && sentence.word(0) == Some("for")
        && (0..at).find(|at| sentence.mark(*at) == Some(",")) == Some(at - 1)
        && !list("passing").within(sentence, 0, at);
    let from = if is_for { 0 } else { lead.from.unwrap_or(at) };
    let statement = Statement::new((from, end), condition);
    let stays = lead.is_standing || core.is_standing || stays_so(sentence, core.verb, end);
    let is_first = (0..start).all(|at| sentence.word(at).is_none_or(|word| list("lead-in").has(word)));
    holds(sentence, around, &core, &lead, (stays, is_first), statement).then_some(statement)
}

/// "… from now on", "… by default".
fn stays_so(sentence: &Sentence<'_>, verb: usize, end: usize) -> bool {
    let is_last = matches!(sentence.word(end - 1), Some("ever" | "always"));
    is_last
        || (verb..end).any(|at| {
            list("standing").at(sentence, at, end) > 0 && list("standing before").at(sentence, at, end) == 0
        })
}

/// Whether an instruction is meant to last.
fn holds(
    sentence: &Sentence<'_>,
    around: Around,
    core: &Core,
    lead: &Lead,
    (stays, is_first): (bool, bool),
    Statement { tokens: (from, end), condition, .. }: Statement,
) -> bool {
    let body_end = condition.map_or(end, |(at, _)| if at > core.verb { at } else { end });
    if core.verb + 1 >= end && sentence.word(core.verb) != Some("apologizing") {
        return false;
    }
    let is_noun = sentence.word(core.verb) == Some("no");
    let answers = list("answers").within(sentence, core.verb, body_end);
    let style = list("style").within(sentence, core.verb, body_end);
    let is_users = around.voice != Voice::Note;
    if stays && !is_noun {
        // In a note an instruction to nobody in particular is a rule of a house, not the user's.
        let is_listed = around.is_listed && sentence.is_item;
        return is_users || answers || style || is_listed || lead.from.is_some() || condition.is_some();
    }
    let passes = list("passing").within(sentence, core.verb, body_end);
    // "Only recommend …", "don't suggest …": what is advised is advised again and again.
    let is_advice = matches!(sentence.word(core.verb), Some("recommend" | "suggest" | "propose"));
    let is_bounded = core.is_negative || (core.verb > 0 && sentence.word(core.verb - 1) == Some("only"));
    // "I need you to cite a source for every statistic."
    let is_of_each = lead.from.is_some()
        && !lead.is_question
        && (core.verb..end).any(|at| {
            matches!(sentence.word(at), Some("for" | "in" | "with"))
                && matches!(sentence.word(at + 1), Some("every" | "each" | "any"))
        });
    // What is said of a kind of thing is not of the task.
    let is_of_kind = from == 0 && sentence.word(0) == Some("for");
    let may_last = !around.has_task || (is_advice && is_of_kind);
    if is_users && !passes && may_last && ((is_advice && is_bounded) || is_of_each) {
        return true;
    }
    if may_last && (is_secret(sentence, core) || is_reminder(sentence, core, lead)) {
        return true;
    }
    if let Some(condition) = condition
        && conditions::recurs(sentence, condition)
        && !list("passing").within(sentence, condition.0, condition.1)
    {
        let is_asked = conditions::is_of_asking(sentence.text(condition.0, condition.1));
        // "Whenever you call an API, put a timeout on it": on what the condition names.
        let is_named =
            |at: usize| condition.0 < core.verb && matches!(sentence.word(at), Some("it" | "them"));
        let passes =
            (core.verb..body_end).any(|at| list("passing").at(sentence, at, body_end) > 0 && !is_named(at));
        return is_asked || (is_users && !passes && !lead.is_question);
    }
    if !is_first || passes || (lead.is_question && !core.is_negative) {
        return false;
    }
    let is_task = list("task").at(sentence, core.verb, end) > 0;
    let for_a_time = is_users && lead.is_bound && !is_task && !around.has_task;
    let is_listed = around.is_listed && sentence.is_item;
    let names_many = ["answers", "responses", "replies", "explanations"]
        .iter()
        .any(|many| (core.verb..end).any(|at| sentence.word(at) == Some(many)) && from <= core.verb);
    (names_many && !around.has_task)
        || (answers && !is_task && !around.has_task)
        || (style && !is_task && !around.has_task && (core.is_negative || condition.is_some()))
        || (for_a_time && (answers || style))
        || is_listed
}

/// "Don't tell Lena about …": what is kept from somebody is kept for long.
fn is_secret(sentence: &Sentence<'_>, core: &Core) -> bool {
    core.is_negative
        && matches!(sentence.word(core.verb), Some("tell" | "show" | "remind" | "ask" | "send"))
        && sentence.is_name(core.verb + 1)
}

/// "If Grandma calls, remind her …": of what happens at some time, which is neither mine nor yours to do.
fn is_reminder(sentence: &Sentence<'_>, core: &Core, lead: &Lead) -> bool {
    let Some((start, _)) = lead.condition.filter(|_| !lead.is_question) else { return false };
    matches!(sentence.word(core.verb), Some("remind" | "warn" | "notify"))
        && matches!(sentence.word(start), Some("if" | "when" | "whenever"))
        && !matches!(
            sentence.word(start + 1),
            None | Some("i" | "you" | "it" | "that" | "this" | "possible" | "we")
        )
}

/// Whether a text asks for one thing to be made now: a sentence that begins with that, and with nothing that lasts.
pub(super) fn is_task(sentence: &Sentence<'_>) -> bool {
    if sentence.len() > SENTENCE_MAX {
        return false;
    }
    let (lead, at) = lead(sentence, 0);
    let end = clauses::end_of(sentence, at);
    !lead.is_standing
        && lead.condition.is_none()
        && list("task").at(sentence, at, sentence.len()) > 0
        && !list("standing").within(sentence, at, end)
        && conditions::trailing_condition(sentence, at, end).is_none()
}

/// Whether a sentence announces a list of instructions or preferences.
pub(super) fn is_heading(sentence: &Sentence<'_>, is_marked: bool) -> bool {
    let ends = sentence.tokens.last().is_some_and(|token| token.text == ":");
    (ends || is_marked) && sentence.len() <= 16 && list("heading").within(sentence, 0, sentence.len())
}

/// "He …" behind a sentence about the user.
pub(super) fn goes_on_about_user(sentence: &Sentence<'_>) -> bool {
    matches!(sentence.word(0), Some("he" | "she" | "they"))
}
