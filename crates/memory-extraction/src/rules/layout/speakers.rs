//! Who speaks in a text, by the labels at the heads of its lines.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::lines::{self, bullet, turn};
use super::super::names;
use super::super::people::{is_acronym, is_initials, is_role_name};
use super::super::sections;
use super::turns::{is_note, says_i};
use super::{is_call, is_role};

/// The most words of a heading above turns.
const HEADING_WORDS: usize = 6;

/// What stands before colons at line starts.
#[derive(Default)]
struct Labels<'t> {
    /// Those that could be names, and how often.
    counts: HashMap<&'t str, usize>,
    /// Of these those that surely are.
    accepted: HashSet<String>,
    /// "User", "Me".
    parts: HashMap<&'t str, usize>,
    handles: HashMap<&'t str, usize>,
    /// Whom a program names: "[24/11/2026, 18:06] Mrs Okafor: …".
    stamped: HashSet<&'t str>,
    /// "Mum", "Chair".
    others: HashSet<&'t str>,
    /// "DS: …" again and again, as scribes write it.
    scribed: usize,
}

impl<'t> Labels<'t> {
    fn of(text: &'t str, lines: &[Range<usize>], known: &HashSet<String>) -> Self {
        let mut labels = Self::default();
        let stands_up = is_stand_up_in_letters(text, lines);
        for line in lines {
            let Some(turn) = turn(&text[line.clone()]).filter(|turn| !is_call(turn)) else { continue };
            if stands_up && is_stand_up_letter(turn.name) {
                continue;
            }
            if turn.timed && lines::is_stamped(&text[line.clone()]) {
                labels.stamped.insert(turn.name.trim_start_matches('@'));
            }
            // "AI(Sigrun): …" is something to do.
            let is_task = is_role_name(turn.name) && line_head(text, line, &turn).contains('(');
            if !is_task {
                labels.add(&turn, line, known);
            }
        }
        labels
    }

    fn add(&mut self, turn: &lines::Turn<'t>, line: &Range<usize>, known: &HashSet<String>) {
        let name = turn.name.trim_start_matches('@');
        if is_role_name(name) {
            *self.parts.entry(name).or_default() += 1;
            return;
        }
        if is_marked_handle(name) && turn.text_at < line.len() {
            *self.handles.entry(name).or_default() += 1;
        }
        let lower = name.to_lowercase();
        let first_known = known.contains(&lower);
        let ordinary = names::is_trailer(name)
            || (names::is_common_word(&lower)
                && !names::is_first_name(&lower)
                && !names::is_wordy_name(&lower));
        let initials = is_initials(name) && !is_acronym(&lower);
        self.scribed += usize::from(initials);
        if is_role(name)
            || !(first_known || initials || names::could_be_name(name, turn.timed && !is_several_words(name)))
            || (ordinary && !first_known && !turn.timed)
        {
            self.others.insert(name);
            return;
        }
        let count = self.counts.entry(name).or_default();
        *count += 1;
        let first = name.split_whitespace().next().unwrap_or_default().to_lowercase();
        let sure = first_known || names::is_first_name(&first);
        if sure || turn.timed || (*count >= 2 && sections::of_label(name).is_none()) {
            self.accepted.insert(name.to_owned());
        }
    }
}

/// Labels at line starts that are names of speakers: known names, names with a time, names like people's, and names
/// that return.
pub(super) fn speakers(text: &str, lines: &[Range<usize>], known: &HashSet<String>) -> HashSet<String> {
    let Labels { counts, mut accepted, parts, handles, stamped, others, scribed } =
        Labels::of(text, lines, known);
    if scribed > 2 {
        accepted.extend(counts.keys().copied().filter(|name| is_initials(name)).map(str::to_owned));
    }
    // "Tobin: on it" where all lines are turns, and one of them is of someone known.
    let are_turns = is_all_turns(text, lines);
    if accepted.is_empty() && are_turns && calls_another(text, lines, &counts) {
        let is_one = |name: &&str| !is_several_words(name) && sections::of_label(name).is_none();
        accepted.extend(counts.keys().copied().filter(is_one).map(str::to_owned));
    }
    if !accepted.is_empty() && are_turns {
        let alone = |name: &&str| !is_several_words(name) && sections::of_label(name).is_none();
        accepted.extend(counts.into_keys().filter(alone).map(str::to_owned));
    }
    if stamped.len() > 1 {
        accepted.extend(stamped.into_iter().map(str::to_owned));
    }
    accepted.extend(in_small_letters(text, lines));
    let standing_out = standing_out(text, lines, &accepted);
    accepted.extend(standing_out);
    // "User:" and "Assistant:" in turn, one of them again and again, or the assistant beside somebody with a name.
    let answers = |name: &&str| name.eq_ignore_ascii_case("assistant") || name.eq_ignore_ascii_case("bot");
    if !accepted.is_empty() {
        accepted.extend(parts.keys().copied().filter(answers).map(str::to_owned));
    }
    // "Mum: …", "Me: …", "Chair: I'll …" among the turns of those who surely speak.
    let is_talk = !accepted.is_empty() && are_turns;
    if is_talk {
        let speaks = |name: &&str| sections::of_label(name).is_none() && !is_note(name);
        accepted.extend(others.into_iter().filter(speaks).map(str::to_owned));
    }
    if is_talk || parts.len() > 1 || parts.values().any(|count| *count > 1) {
        accepted.extend(parts.into_keys().map(str::to_owned));
    }
    // "xq_7: …" again and again beside those who surely speak.
    if !accepted.is_empty() {
        let often = handles.into_iter().filter(|(_, count)| *count > 1);
        accepted.extend(often.map(|(name, _)| name.to_owned()));
    }
    accepted
}

/// "Abe: Lin, can you …?" above "Lin: sure": who is called in one line speaks in another.
fn calls_another(text: &str, lines: &[Range<usize>], counts: &HashMap<&str, usize>) -> bool {
    lines.iter().take(400).map(|line| &text[line.clone()]).any(|line| {
        let Some(turn) = turn(line).filter(|turn| !is_call(turn)) else { return false };
        let said = line[turn.text_at..].trim();
        let called = said.split_once(',').map(|(head, _)| head.trim().trim_start_matches("ok "));
        let last = said.trim_end_matches(['?', '.', '!']).rsplit_once(',').map(|(_, name)| name.trim());
        let is_other = |name: &str| name != turn.name && counts.contains_key(name);
        called.into_iter().chain(last).any(is_other)
    })
}

/// Names that stand out: "jun  19:09" above their words again and again, "**Obi** – …" for each of several people.
fn standing_out(text: &str, lines: &[Range<usize>], accepted: &HashSet<String>) -> Vec<String> {
    let mut stamped: HashMap<&str, usize> = HashMap::new();
    let mut told: HashSet<&str> = HashSet::new();
    for line in lines.iter().map(|line| &text[line.clone()]).filter(|line| line.contains('*')) {
        let Some(turn) = turn(line).filter(|turn| !is_call(turn) && !is_role_name(turn.name)) else {
            continue;
        };
        if is_stamped(line, &turn) {
            *stamped.entry(turn.name).or_default() += 1;
        }
        if is_told_of(line, &turn) {
            told.insert(turn.name);
        }
    }
    let several = told.len() > 2 && told.iter().any(|name| accepted.contains(*name));
    let returning = stamped.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name.to_owned());
    returning.chain(told.into_iter().filter(|_| several).map(str::to_owned)).collect()
}

/// "**jun** — 19:09": one word that is marked, with an hour, above or before what is said; an ordinary word is no name.
fn is_stamped(line: &str, turn: &lines::Turn<'_>) -> bool {
    let marked = line.trim_start().starts_with("**") || line.contains(" **");
    let lower = turn.name.to_lowercase();
    let is_name = names::is_first_name(&lower)
        || names::is_wordy_name(&lower)
        || !(names::is_common_word(&lower) || calendar_word(&lower).is_some());
    turn.timed && marked && is_name && !turn.name.contains(' ') && turn.name.len() > 1 && !is_role(turn.name)
}

/// "**Obi** – …": a name that stands out before a dash.
fn is_told_of(line: &str, turn: &lines::Turn<'_>) -> bool {
    let head = line.trim_start().get(..turn.text_at).unwrap_or_default();
    let plain = !turn.timed && head.starts_with('*') && head.contains(['–', '—']);
    plain && names::could_be_name(turn.name, false) && !names::is_common_word(&turn.name.to_lowercase())
}

/// "jorun: …", "pelle: …": words in small letters, a first name among them, that lead most lines of a text, each of them several.
fn in_small_letters(text: &str, lines: &[Range<usize>]) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let (mut all, mut led, mut valued) = (0, 0, 0);
    for line in lines.iter().take(400).map(|line| text[line.clone()].trim()).filter(|line| !line.is_empty()) {
        all += 1;
        let (head, rest) = line.split_once(": ").unwrap_or_default();
        let plain = head.len() > 1 && head.chars().all(|c| c.is_lowercase() || matches!(c, '-' | '_' | '.'));
        if plain && !names::is_common_word(head) && sections::of_label(head).is_none() && !is_role(head) {
            valued += usize::from(is_bare_value(rest));
            led += 1;
            *counts.entry(head).or_default() += 1;
        }
    }
    let known = counts.iter().any(|(name, count)| *count > 1 && names::is_first_name(name));
    let often = counts.values().filter(|count| **count > 1).count();
    let is_talk = if known { led * 2 >= all } else { led * 10 >= all * 9 };
    if !is_talk || valued * 3 > led || often < 2 || often * 2 < counts.len() {
        return Vec::new();
    }
    counts.into_keys().map(str::to_owned).collect()
}

/// "Y: … / T: … / B: …", each on its line, and nobody who is called by another letter.
fn is_stand_up_in_letters(text: &str, lines: &[Range<usize>]) -> bool {
    let letters: Vec<&str> = lines
        .iter()
        .filter_map(|line| text[line.clone()].trim().split_once(':'))
        .map(|(label, _)| label)
        .filter(|label| label.len() == 1 && label.starts_with(char::is_alphabetic))
        .collect();
    let has = |letter: &str| letters.iter().any(|label| label.eq_ignore_ascii_case(letter));
    has("y") && has("t") && letters.iter().all(|label| is_stand_up_letter(label))
}

fn is_stand_up_letter(label: &str) -> bool {
    matches!(label, "Y" | "T" | "B" | "y" | "t" | "b")
}

/// "min: 1", "max: 5": a key of a file, though "max" is a name too.
fn is_bare_value(rest: &str) -> bool {
    rest.split_whitespace().count() < 2 && !rest.contains(|c: char| c.is_alphabetic())
}

/// What stands before the words of a turn.
fn line_head<'t>(text: &'t str, line: &Range<usize>, turn: &lines::Turn<'_>) -> &'t str {
    text.get(line.start..line.start + turn.text_at).unwrap_or_default()
}

/// Whether hardly any line, below a heading, is not led by a name and a colon.
fn is_all_turns(text: &str, lines: &[Range<usize>]) -> bool {
    let mut all = 0;
    let mut led = 0;
    let lines = lines.iter().take(400).map(|line| text[line.clone()].trim());
    let mut lines = lines.filter(|line| !line.is_empty()).peekable();
    // "Standup, Monday".
    let is_heading = |line: &&str| turn(line).is_none() && line.split_whitespace().count() <= HEADING_WORDS;
    lines.next_if(is_heading);
    for line in lines {
        all += 1;
        let is_led = turn(line).is_some_and(|turn| {
            let is_said = |said: &str| says_i(said) || said.trim_end().ends_with(['.', '?', '!']);
            sections::of_label(turn.name).is_none()
                && (!is_role(turn.name) || is_said(&line[turn.text_at..]))
                && bullet(line).is_none()
        });
        led += usize::from(is_led);
    }
    all >= 2 && led * 10 >= all * 9
}

/// `xq_7`, `fjell-9`: a handle that is no word.
fn is_marked_handle(name: &str) -> bool {
    let parts = name.split(['_', '-']).count();
    !name.contains(' ')
        && name.len() > 2
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && (name.contains('_') || parts > 1 || name.ends_with(|c: char| c.is_ascii_digit()))
        && !name.split(['_', '-']).any(names::is_common_word)
}

/// "laptop fan dying": words in lower case that no name begins with.
fn is_several_words(name: &str) -> bool {
    let first = name.split(' ').next().unwrap_or_default();
    name.contains(' ') && first.starts_with(char::is_lowercase) && !names::is_first_name(first)
}
