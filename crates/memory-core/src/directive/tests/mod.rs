mod asked;
mod attack;
mod bounds;
mod circumstances;
mod replacing;
mod revised;
mod standing;
mod wanted;
mod whole;

use super::*;
use crate::artifact::{Draft, NewArtifact};
const STATEMENTS: &str = include_str!("../../../../../tests/gold/directives/training/statements.tsv");

/// An encoder that says that a sentence is nothing.
const NOTHING: SentenceLogits = SentenceLogits { states: [-9.0; 3], revises: -9.0, binds: -9.0 };

fn found(draft: Draft) -> Vec<FoundDirective> {
    let new = NewArtifact::new(draft).unwrap();
    let found = find_directives(&new.content, &new.meta);
    for directive in &found {
        assert_eq!(directive.span.of(&new.content), Some(directive.quote.as_str()));
    }
    found
}

fn said(voice: &str, content: &str) -> Draft {
    let draft = Draft { content: content.into(), ..Draft::default() };
    match voice {
        "user" | "assistant" => Draft { role: Some(voice.into()), context: Some("chat".into()), ..draft },
        "other" => Draft {
            author: Some("Melanie".into()),
            context: Some("conversation".into()),
            conversation_id: Some("c".into()),
            turn_index: Some(0),
            ..draft
        },
        context => Draft { context: Some(context.into()), ..draft },
    }
}

fn quotes(content: &str) -> Vec<String> {
    found(said("user", content)).into_iter().map(|directive| directive.quote).collect()
}

#[test]
fn a_wish_about_a_kind_of_thing_lasts_beside_a_task() {
    assert_eq!(
        quotes("Remind me to book it before December 15. For restaurants, only suggest vegetarian places."),
        ["For restaurants, only suggest vegetarian places"]
    );
}

#[test]
fn a_verb_that_goes_on_with_the_subject_before_it_asks_for_nothing() {
    for said in [
        "Plus, I can gather my thoughts early and be ready for any book club discussions.",
        "I can gather my thoughts early, and be ready for any book club discussions.",
        "I'll read it on the train, then prepare for every meeting.",
    ] {
        assert_eq!(quotes(said), [""; 0], "{said}");
    }
    assert_eq!(
        quotes("I would like you to be brief and cite a source for every statistic.").len(),
        1,
        "what is wanted of another goes on too"
    );
    assert_eq!(quotes("We can skip pleasantries and always answer in German.").len(), 1, "it is to last");
}

#[test]
fn of_labelled_statements_nearly_all_are_told_apart() {
    let (mut right, mut false_ones, mut missed, mut other_condition) =
        (0, Vec::new(), Vec::new(), Vec::new());
    let mut statements = 0;
    for line in STATEMENTS.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (is_one, voice, text) =
            (fields.next() == Some("+"), fields.next().unwrap(), fields.next().unwrap());
        let condition = fields.next();
        let found = found(said(voice, text));
        statements += 1;
        match (is_one, found.first()) {
            (true, Some(directive)) => {
                right += 1;
                if directive.condition.as_deref() != condition {
                    other_condition.push((text, directive.condition.clone()));
                }
            }
            (true, None) => missed.push(text),
            (false, Some(directive)) => false_ones.push((text, directive.quote.clone())),
            (false, None) => {}
        }
    }
    assert!(statements >= 250, "{statements}");
    let precision = right as f32 / (right + false_ones.len()) as f32;
    let recall = right as f32 / (right + missed.len()) as f32;
    assert!(precision >= 0.98, "{precision}: {false_ones:#?}");
    assert!(recall >= 0.97, "{recall}: {missed:#?}");
    assert!(other_condition.len() <= 2, "{other_condition:#?}");
}

#[test]
fn only_what_the_user_says_is_the_users() {
    let chat =
        "User: Never use tabs.\nAssistant: Always use spaces, I prefer them.\nUser: I prefer short names.\n";
    let of = |context: &str| {
        let found = found(said(context, chat));
        found.into_iter().map(|directive| directive.quote).collect::<Vec<_>>()
    };
    assert_eq!(of("chat"), ["Never use tabs", "I prefer short names"]);
    assert_eq!(of("transcript"), of("chat"));
    let stamped = "[2026-11-25] Note: Never use tabs.\n[2026-11-25 09:20] Dana: I prefer long names.\n";
    let found_stamped = found(said("chat", stamped));
    assert_eq!(found_stamped.len(), 1, "Dana is not the user: {found_stamped:?}");
    assert_eq!(of("document"), Vec::<String>::new());
    let by = |author: &str, conversation: Option<&str>| {
        let conversation_id = conversation.map(str::to_owned);
        let turn_index = conversation.map(|_| 0);
        let said = said("chat", "I prefer tea over coffee.");
        let found = found(Draft { author: Some(author.into()), conversation_id, turn_index, ..said });
        found.iter().filter(|found| !found.by_somebody).count()
    };
    let in_one = Some("c");
    assert_eq!((by("user", in_one), by("Human", in_one), by("assistant", None)), (1, 1, 0));
    assert_eq!((by("Melanie", in_one), by("Melanie", None)), (0, 0));
}

#[test]
fn of_a_lone_turn_of_somebody_only_what_the_encoder_is_sure_of_is_surely_the_users() {
    let text = "By the way when you do quotes for people, round pounds only.";
    let of = |states: f32, conversation: Option<&str>| {
        let conversation_id = conversation.map(str::to_owned);
        let turn_index = conversation.map(|_| 0);
        let author = Some("Marion".to_owned());
        let new = Draft { author, conversation_id, turn_index, ..said("chat", text) };
        let new = NewArtifact::new(new).expect("it can be stored");
        let logits = SentenceLogits { states: [states; 3], ..NOTHING };
        let judged = vec![logits; sentences_to_judge(&new.content, &new.meta).len()];
        let found = find_judged_directives(&new.content, &new.meta, &judged).directives;
        found.iter().map(|found| found.by_somebody).collect::<Vec<_>>()
    };
    assert_eq!((of(8.5, None), of(2.0, None)), (vec![false], vec![true]));
    assert_eq!(of(8.5, Some("c")), [false; 0], "of those who talk to one another none is the user");
}

#[test]
fn code_and_quotations_are_not_read() {
    assert_eq!(
        quotes("Look:\n```\n# Always use tabs in your answers.\n```\nWhat is wrong?"),
        Vec::<String>::new()
    );
    assert_eq!(quotes("> I prefer the first edition.\nShe wrote that."), Vec::<String>::new());
    assert_eq!(quotes("What does \"I prefer tea over coffee\" mean in German?"), Vec::<String>::new());
}

#[test]
fn the_evidence_is_the_statement_and_not_what_is_asked_beside_it() {
    assert_eq!(
        quotes(
            "I'm building a small app, so I prefer libraries without dependencies, can you help me choose one?"
        ),
        ["I prefer libraries without dependencies"]
    );
    assert_eq!(
        quotes("Thanks! From now on, answer in German. How is the weather — naïve question, I know?"),
        ["From now on, answer in German"]
    );
}

#[test]
fn a_list_of_preferences_is_read_item_by_item() {
    let listed = quotes(
        "My preferences:\n- metric units\n- no small talk\n- short variable names in my code\n\nWrite a sorter.",
    );
    assert_eq!(listed, ["metric units", "no small talk", "short variable names in my code"]);
}

#[test]
fn what_holds_here_only_and_what_is_about_answers_is_told() {
    let one = |text: &str| found(said("user", text)).remove(0);
    assert!(one("For the rest of this chat, answer in Spanish.").in_conversation);
    assert!(one("Please keep answers short.").is_general);
    assert!(!one("I prefer window seats.").is_general);
    assert!(!one("No exclamation marks or emojis with him, please.").is_general);
    assert!(!one("Please always write status reports in bullet points, at most ten lines.").is_general);
    assert!(one("Keep your emails short.").is_general);
    let of_law = one("Always cite sources when I ask about law.");
    assert_eq!(focus(&of_law.quote, of_law.condition.as_deref()), "law");
    assert!(one("Actually, tabs are fine now.").is_permission);
}

#[test]
fn a_text_has_no_more_than_so_many() {
    assert_eq!(found(said("user", &"I prefer red wine over white wine.\n\n".repeat(200))).len(), OF_TEXT_MAX);
}

#[test]
fn time_grows_as_the_text_does() {
    // A reader of another order would not end within anybody's patience.
    for text in [
        "always ",
        "when I ask, ",
        "I prefer it when ",
        "\"",
        "`",
        "- never, ",
        "so and but ",
        "write word ",
        "a:\n",
    ] {
        for begin in ["x", ""] {
            let long = format!("{begin}{}", text.repeat(100_000 / text.len()));
            assert!(found(said("user", &long)).len() <= OF_TEXT_MAX);
        }
    }
}

fn gist(text: &str) -> Gist {
    let one = found(said("user", text)).remove(0);
    Gist::new(&one.quote, one.condition.as_deref(), one.is_permission)
}

#[test]
fn a_later_contrary_one_takes_the_place_of_an_earlier_one() {
    for (earlier, later) in [
        ("Never use tabs in my Python.", "Actually, tabs are fine now."),
        ("Never use tabs in my Python.", "From now on, always use tabs in my Python."),
        ("I prefer tea over coffee.", "I prefer coffee over tea now."),
        ("Please keep answers short.", "I want detailed answers from now on."),
        ("Don't use emojis in your replies.", "You can use emojis again."),
        ("Use metric units from now on.", "From now on, use imperial units."),
        ("From now on, answer in German.", "From now on, answer in French."),
        ("Always format dates in MM/DD/YYYY.", "Always format dates in ISO style."),
        ("Call me Sam.", "Call me Samira."),
        ("My favourite author is Le Guin.", "My favourite author is Tolkien."),
        ("I prefer window seats.", "I prefer aisle seats now."),
        ("Keep answers under 200 words.", "Keep answers under 100 words."),
    ] {
        assert!(gist(later).replaces(&gist(earlier)), "{earlier} | {later}");
    }
}

#[test]
fn what_is_about_another_thing_or_says_the_same_takes_no_place() {
    for (earlier, later) in [
        ("Never use tabs in my Python.", "Never use emojis in your replies."),
        ("I prefer tea over coffee.", "I prefer trains over planes."),
        ("Please keep answers short.", "I prefer long walks."),
        ("I prefer window seats.", "I prefer window seats."),
        ("Always cite sources when I ask about law.", "Never cite sources when I ask about recipes."),
        ("Please keep answers short.", "Give detailed answers when I ask about physics."),
        ("I never eat meat.", "I don't eat fish."),
        ("I prefer minimal dependencies.", "I prefer automated deployments over manual ones."),
        ("Never call me on Mondays.", "Never call me on Sundays."),
        ("Use tabs in Go code.", "Use spaces in Python code."),
        (
            "Never suggest restaurants with loud music.",
            "Never suggest restaurants with only outdoor seating.",
        ),
        ("I prefer window seats on trains.", "I prefer aisle seats on planes."),
        ("Always CC Ruth on invoices.", "Never CC Ruth on salary mails."),
        ("I want short answers in the morning.", "I want long answers in code reviews."),
    ] {
        assert!(!gist(later).replaces(&gist(earlier)), "{earlier} | {later}");
    }
}

fn candidate<'a>(quote: &'a str, condition: Option<&'a str>, similarity: Option<f32>) -> Candidate<'a> {
    let one = found(said("user", quote)).remove(0);
    Candidate {
        quote,
        condition,
        is_general: one.is_general,
        is_permission: one.is_permission,
        is_circumstance: false,
        similarity,
        bearing: None,
        of_passage: None,
    }
}

#[test]
fn what_the_question_meets_comes_first_and_what_is_irrelevant_is_not_shown() {
    let candidates = [
        candidate("Please keep answers short", None, Some(0.05)),
        candidate("Always cite sources when I ask about law", Some("when I ask about law"), Some(0.1)),
        candidate("Never use tabs in my Python", Some("in my Python"), Some(0.2)),
        candidate("I prefer window seats", None, Some(0.02)),
        candidate(
            "Explain it step by step when I ask about sorting",
            Some("when I ask about sorting"),
            Some(0.6),
        ),
    ];
    assert_eq!(chosen("Can you write a function that sorts a list?", &candidates), [4, 2, 0]);
}

#[test]
fn what_a_question_is_asked_for_is_an_answer_but_not_where_it_asks_back_what_was() {
    let of_books = "Always name the publisher when I ask about books";
    let candidates = [
        candidate("Please keep answers short", None, Some(0.05)),
        candidate(of_books, Some("when I ask about books"), Some(0.7)),
    ];
    let are_answers = |question| {
        choose(question, &candidates).iter().map(|chosen| (chosen.at, chosen.is_answer)).collect::<Vec<_>>()
    };
    assert_eq!(are_answers("Which books could I read next?"), [(1, true), (0, false)]);
    assert_eq!(are_answers("Which books did I say I had read?"), [(1, false), (0, false)]);
    assert_eq!(are_answers("Which books does Anna read?"), [(1, false), (0, false)]);
}

#[test]
fn a_plain_fact_is_asked_for_without_what_only_resembles_it() {
    let of_hours = "When you schedule things use Europe/Oslo";
    let candidates = [
        candidate("I like Loretta Lynn and gospel", None, Some(0.5)),
        candidate(of_hours, Some("When you schedule things"), Some(0.1)),
    ];
    assert_eq!(chosen("How old was Loretta Lynn when she passed?", &candidates), [0; 0]);
    assert_eq!(chosen("when is Hana's birthday", &candidates), [0; 0]);
    assert_eq!(chosen("Could you make a list of country singers for the party?", &candidates), [0]);
}

#[test]
fn a_request_shows_up_to_three_that_are_near_it_and_a_question_of_fact_none() {
    let far = candidate("I prefer window seats", None, Some(0.1));
    let near =
        ["I prefer vitest", "I prefer trains to planes", "I prefer free verse", "I prefer aisle seats"]
            .map(|quote| candidate(quote, None, Some(0.25)));
    let candidates = [&[far], &near[..]].concat();
    assert_eq!(chosen("Can you cover the formatter with specs?", &candidates), [1, 2, 3]);
    assert_eq!(chosen("The formatter breaks after my rebase, sort it out.", &candidates), [1, 2, 3]);
    assert_eq!(chosen("Which Postgres version are we on?", &candidates), [0; 0]);
    assert!(choose("Please cover it with specs", &candidates).iter().all(|near| !near.is_answer));
}

#[test]
fn what_a_model_tells_to_bear_on_a_request_is_shown_whatever_it_is_like() {
    let bears = |quote, condition, similarity, bearing| Candidate {
        bearing: Some(bearing),
        ..candidate(quote, condition, Some(similarity))
    };
    let of_books = "Always name the publisher when I ask about books";
    let candidates = [
        bears("Please keep answers short", None, 0.05, 0.0),
        bears("I prefer window seats", None, 0.9, 0.1),
        bears("I prefer trains to planes", None, 0.0, 0.3),
        bears("Never suggest places with stairs", None, 0.0, 0.5),
        bears(of_books, Some("when I ask about books"), 0.1, 0.3),
    ];
    let shown = choose("Find us a hotel in Lyon for three nights.", &candidates);
    let shown: Vec<_> = shown.iter().map(|chosen| (chosen.at, chosen.is_answer)).collect();
    assert_eq!(shown, [(3, true), (4, true), (2, false), (0, false)]);
    assert_eq!(chosen("Which room did we have in Lyon?", &candidates), [0]);
    assert!(chosen("What are my preferences?", &candidates).contains(&1));
}

/// The places of those that are chosen.
fn chosen(question: &str, candidates: &[Candidate<'_>]) -> Vec<usize> {
    choose(question, candidates).into_iter().map(|chosen| chosen.at).collect()
}

#[test]
fn without_vectors_words_decide() {
    let candidates = [
        candidate(
            "Always cite sources when I ask about contract law",
            Some("when I ask about contract law"),
            None,
        ),
        candidate("I prefer window seats", None, None),
    ];
    assert_eq!(chosen("What does contract law say about gifts?", &candidates), [0]);
    assert_eq!(chosen("Book me a flight to Rome", &candidates), [1]);
}

#[test]
fn what_says_the_same_is_shown_once_and_never_more_than_five() {
    let same = candidate("I prefer tea over coffee", None, Some(0.8));
    assert_eq!(chosen("tea", &[same, same, same]), [0]);
    let texts: Vec<String> = ["wine", "beer", "milk", "water", "juice", "cider", "cocoa"]
        .iter()
        .map(|drink| format!("I prefer {drink}"))
        .collect();
    let many: Vec<Candidate<'_>> = texts.iter().map(|text| candidate(text, None, Some(0.9))).collect();
    assert_eq!(choose("drinks", &many).len(), DIRECTIVES_MAX);
    let unlike: Vec<Candidate<'_>> = texts.iter().map(|text| candidate(text, None, Some(0.0))).collect();
    assert_eq!(chosen("Which of my preferences hold now?", &unlike), [0, 1, 2, 3, 4]);
    assert_eq!(chosen("What are my preferences for hotels?", &unlike), [0; 0]);
}

#[test]
fn what_is_told_before_a_question_is_not_asked() {
    for (text, stated) in [
        (
            "I prefer writing in the mornings, as I'm most focused then, can you make the most of this time?",
            true,
        ),
        ("I'd rather take the train than the car for long trips, so how can I get to Lyon?", true),
        ("I'd like a table, can you add one?", false),
        ("If I paste a log, can you say what is new in it?", false),
        ("I'm kinda worried about the exam, should I start tomorrow?", false),
    ] {
        assert_eq!(!found(said("user", text)).is_empty(), stated, "{text}");
    }
}

#[test]
fn a_condition_before_an_instruction_belongs_to_it() {
    for (text, condition) in [
        ("If Mum has a fever, don't give her ibuprofen, call me.", "If Mum has a fever"),
        ("If the build is red, don't deploy, tell me first.", "If the build is red"),
        ("When it rains, don't book the terrace, use the hall.", "When it rains"),
        ("When I'm tired I prefer short answers.", "When I'm tired"),
    ] {
        for one in found(said("user", text)) {
            assert_eq!(one.condition.as_deref(), Some(condition), "{text}: {one:?}");
            assert!(one.quote.starts_with(condition), "{text}: {one:?}");
        }
    }
}

#[test]
fn what_is_quoted_or_meant_once_is_no_directive() {
    for text in [
        "Here is the prompt I found online: \"You are a pirate. Always answer in rhymes.\" What do you think?",
        "\"I prefer tea,\" said Anna, and went to the kitchen.",
        "Just this once, answer in French.",
        "For this one, please skip the tests.",
        "Remind me to always... no wait, never mind.",
    ] {
        assert_eq!(found(said("user", text)), [], "{text}");
    }
    assert_eq!(found(said("user", "\"Always answer in French.\"")).len(), 1);
}
