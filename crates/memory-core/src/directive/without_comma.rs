//! Conditions that no comma parts from what holds on them: "whenever you call an external API | put a timeout on it".

use super::clauses::Tokens;
use super::sentence::Sentence;
use super::words::list;

/// The most tokens of such a condition.
const CONDITION_MAX: usize = 18;
/// Behind these a word is a noun, or a verb of what is said before it.
const NO_ORDER_BEHIND: &str = "to you i we they and or a an the my your our any every each no this that some of in on for \
    with at by from will can could should must would do does don't not never always is are about me how what who which \
    please than just also";
/// With these begins what an instruction is done to.
const BEGINS_OBJECT: &str =
    "a an the me us it them my your all any every each both only with so where what which how that him her";

/// The condition that begins at a token and that the verb of an instruction ends.
pub(super) fn condition(sentence: &Sentence<'_>, at: usize) -> Option<Tokens> {
    // "Before any deploy to the shop list the migrations" has no verb of its own.
    let is_of_act = matches!(sentence.word(at), Some("before" | "after"));
    let opens = matches!(sentence.word(at), Some("when" | "whenever" | "if" | "anytime"))
        || is_of_act
        || (matches!(sentence.word(at), Some("any" | "every" | "each"))
            && sentence.word(at + 1) == Some("time"));
    let opener = list("condition").at(sentence, at, sentence.len());
    let first = at + opener.max(usize::from(is_of_act));
    if !opens || first == at {
        return None;
    }
    let is_inside = |at: &usize| sentence.word(*at).is_some();
    let reach = (first + 2..sentence.len().min(at + CONDITION_MAX)).take_while(is_inside);
    let from = own_verb(sentence, first).or(is_of_act.then_some(first))? + 1;
    reach.filter(|verb| *verb >= from).find(|verb| orders(sentence, *verb)).map(|verb| (at, verb))
}

/// Where the verb of the condition itself is: "you call", "a test takes", "the build is".
fn own_verb(sentence: &Sentence<'_>, first: usize) -> Option<usize> {
    if matches!(sentence.word(first)?, "i" | "you" | "we" | "they") {
        let is_between = |at: &usize| {
            sentence.word(*at).is_some_and(|word| {
                word.ends_with("ly")
                    || matches!(
                        word,
                        "do" | "don't" | "can" | "can't" | "also" | "want" | "have" | "to" | "not"
                    )
            })
        };
        let verb = first + 1 + (first + 1..first + 4).take_while(is_between).count();
        return sentence.word(verb).map(|_| verb);
    }
    (first + 1..first + 8).find(|at| {
        sentence.word(*at).is_some_and(|word| {
            let base = word.strip_suffix('s').unwrap_or_default();
            let is_behind_article = matches!(sentence.word(at - 1), Some("the" | "a" | "an" | "my" | "your"));
            let is_verb =
                matches!(word, "is" | "are" | "has" | "have" | "isn't" | "aren't" | "goes" | "does")
                    || list("reason verbs").has(base)
                    || list("verbs").has(base)
                    || list("reason verbs").has(word);
            is_verb && !is_behind_article
        })
    })
}

/// Whether a word is the verb of an instruction here, and no noun and no verb of the condition.
fn orders(sentence: &Sentence<'_>, at: usize) -> bool {
    let word = sentence.word(at).unwrap_or_default();
    let before = sentence.word(at - 1).unwrap_or_default();
    let next = sentence.word(at + 1).unwrap_or_default();
    if matches!(word, "don't" | "never" | "always" | "please") {
        return !matches!(before, "i" | "you" | "we" | "they" | "that" | "who" | "which");
    }
    let takes_object = BEGINS_OBJECT.split(' ').any(|word| word == next)
        || (matches!(word, "use" | "give" | "avoid" | "include") && !next.is_empty());
    list("verbs").has(word) && takes_object && !NO_ORDER_BEHIND.split(' ').any(|word| word == before)
}
