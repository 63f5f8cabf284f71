//! What the extractor finds in whole documents.

mod acceptances;
mod appointments;
mod dated;
mod declared;
mod doers;
mod exchanges;
mod headed;
mod linear;
mod listed;
mod narratives;
mod others;
mod owners;
mod people;
mod reports;
mod samples;
mod speakers;
mod structure;
mod things;
mod unsaid_owners;
mod writers;

use jiff::Timestamp;
use memory_core::artifact::Context;
use memory_core::event::{ActorRole, Category, ExtractedEvent, Extraction};
use memory_core::ports::{Extractor, Segment, SourceText};

use super::model::{self, ClauseModel};
use super::naming::NameModel;
use super::{RulesExtractor, cues, line_patterns, lists, sections, verbs};
use samples::{CHAT, MAIL, MEETING, NOTHING, RECORD, STATUS, TABLE};

#[test]
fn every_data_file_the_weights_and_all_patterns_are_sound() {
    for list in lists::ALL {
        list.read().unwrap();
    }
    for pattern in line_patterns::ALL {
        pattern.compile().unwrap();
    }
    verbs::read().unwrap();
    cues::read().unwrap();
    sections::read().unwrap();
    super::things::read_places().unwrap();
    model::read_word_classes().unwrap();
    ClauseModel::read_own().unwrap();
    NameModel::read_own().unwrap();
}

/// What the extractor finds; it has nothing to wait for.
pub(super) fn extract(extractor: &RulesExtractor, source: &SourceText) -> Extraction {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(extractor.extract(source)).unwrap()
}

fn friday() -> Option<Timestamp> {
    "2024-03-15T10:00:00Z".parse().ok()
}

fn segment(text: &str, speaker: Option<&str>) -> Segment {
    Segment {
        text: text.to_owned(),
        speaker: speaker.map(str::to_owned),
        date: friday(),
        context_only: false,
        is_date_of_storing: false,
    }
}

fn source(segments: Vec<Segment>) -> SourceText {
    SourceText { context: Context::Note, title: None, author: None, participants: vec![], segments }
}

fn read(text: &str) -> Extraction {
    checked(&source(vec![segment(text, None)]))
}

fn read_as(author: Option<&str>, participants: &[&str], text: &str) -> Extraction {
    let mut source = source(vec![segment(text, None)]);
    source.author = author.map(str::to_owned);
    source.participants = participants.iter().map(|name| (*name).to_owned()).collect();
    checked(&source)
}

/// Extracts and checks what must hold for every result.
fn checked(source: &SourceText) -> Extraction {
    let extraction = extract(&RulesExtractor::with_model(None), source);
    let texts: Vec<&str> = source.segments.iter().map(|segment| segment.text.as_str()).collect();
    let (kept, rejected) = extraction.clone().verified(&texts);
    assert_eq!((rejected.events, rejected.mentions), (0, 0));
    assert_eq!(kept, extraction, "indexes and confidences are right as they come");
    for event in &extraction.events {
        assert!(event.confidence >= 0.5 && event.confidence <= 1.0, "{event:?}");
        assert!(!source.segments[event.evidence[0].segment].context_only);
    }
    extraction
}

fn names(extraction: &Extraction, event: &ExtractedEvent) -> Vec<String> {
    event
        .actors
        .iter()
        .map(|actor| format!("{} {}", extraction.entities[actor.entity].name, actor.role))
        .collect()
}

/// One line an event: category, due date, actors, the beginning of the evidence.
fn shown(extraction: &Extraction) -> Vec<String> {
    extraction
        .events
        .iter()
        .map(|event| {
            let due = event.due_time.map_or(String::new(), |due| format!(" due {}", due.strftime("%m-%d")));
            let words: Vec<&str> = event.evidence[0].quote.split_whitespace().take(4).collect();
            format!("{}{due} [{}] {}", event.category, names(extraction, event).join(", "), words.join(" "))
        })
        .collect()
}

#[test]
fn meeting_notes_give_their_commitments_decisions_and_risks() {
    assert_eq!(
        shown(&read(MEETING)),
        [
            "Commitment due 03-15 [Alice Chen owner] Alice Chen committed to",
            "QualityRisk [Bob Martinez stakeholder, Alice Chen other] Bob is waiting on",
            "QualityRisk [Priya Raman other] Priya reported that the",
            "Decision [] We will use PostgreSQL",
            "Decision [] Postpone the mobile beta",
            "Commitment due 03-21 [Bob Martinez owner] @bob to draft the",
            "Commitment due 03-15 [Alice Chen owner] Alice: finish the API",
            "Execution [Priya Raman owner] Priya Raman – set",
            "Commitment due 03-22 [Priya Raman owner] Update the onboarding guide",
            "QualityRisk [] Vendor contract for Project",
        ]
    );
}

#[test]
fn a_mail_speaks_for_its_author_and_not_for_what_it_quotes() {
    assert_eq!(
        shown(&read(MAIL)),
        [
            "Execution [Nadia Osei owner] I fixed the rounding",
            "Commitment due 03-21 [Nadia Osei owner] I'll send the release",
            "Commitment due 03-15 [Tomás García owner, Nadia Osei stakeholder] Please review the export",
        ]
    );
}

#[test]
fn a_chat_gives_promises_and_what_two_agree_on() {
    let extraction = read(CHAT);
    assert_eq!(
        shown(&extraction),
        [
            "Commitment due 03-15 [Kim Larsen owner, Dana Ortiz stakeholder] sure, will do",
            "Decision [Dana Ortiz owner, Kim Larsen owner] agreed",
            "Commitment due 03-16 [Kim Larsen owner] I'll write the migration",
        ]
    );
    let agreed = &extraction.events[0];
    assert_eq!(
        agreed.narrative,
        "Kim Larsen agreed to send the load-test report by Friday, asked by Dana Ortiz."
    );
    assert_eq!(agreed.evidence[1].quote, "Kim, can you send the load-test report by Friday?");
}

#[test]
fn a_decision_record_gives_the_decision_and_not_its_options() {
    assert_eq!(
        shown(&read(RECORD)),
        [
            "Decision [] We will use NATS",
            "Commitment due 06-30 [Ingrid Holm owner] Ingrid Holm will write",
            "QualityRisk [] The team has no",
        ]
    );
}

#[test]
fn a_status_report_gives_what_was_done_changed_and_said() {
    let extraction = read(STATUS);
    assert_eq!(
        shown(&extraction),
        [
            "Execution [Hana Suzuki owner] Shipped the search filters",
            "Execution [Marek Novak owner] Marek Novak: migrated the",
            "Execution [Hana Suzuki owner] Released v3.1.0",
            "QualityRisk [] Waiting on security review",
            "Commitment due 03-13 [Hana Suzuki owner] Hana: run the load",
            "Change [] Travel budget: reduced from",
            "Change [] The launch was postponed",
            "Stakeholder [Lucía Ortega owner] Lucía Ortega joined the",
            "Feedback [] Customers complained about the",
            "Collaboration [Marek Novak owner, Lucía Ortega contributor] Marek paired with Lucía",
        ]
    );
    let shipped = &extraction.events[0];
    assert_eq!(shipped.event_time.map(|t| t.to_string()).as_deref(), Some("2024-03-05T00:00:00Z"));
    let subject = |at: usize| extraction.events[at].subject.map(|s| extraction.entities[s].name.as_str());
    assert_eq!((subject(2), subject(3)), (Some("v3.1.0"), Some("Platform team")));
}

#[test]
fn a_table_row_is_one_commitment() {
    assert_eq!(
        shown(&read(TABLE)),
        [
            "Commitment due 04-02 [Omar Haddad owner] Renew the TLS certificates",
            "Commitment [Freya Lind owner] Prepare the board slides"
        ]
    );
}

#[test]
fn texts_without_events_give_none() {
    for (kind, text) in NOTHING {
        assert_eq!(shown(&read(text)), Vec::<String>::new(), "{kind}");
    }
}

#[test]
fn single_sentences_are_read_as_people_mean_them() {
    let cases = [
        ("Maria Lopez agreed to review the contract by Monday.", "Commitment due 03-18 [Maria Lopez owner]"),
        (
            "Alice Chen will draft the plan and Bob Reyes will test it.",
            "Commitment [Alice Chen owner] / Commitment [Bob Reyes owner]",
        ),
        (
            "Alice Chen asked Bob Reyes to send the figures by EOD tomorrow.",
            "Commitment due 03-16 [Bob Reyes owner, Alice Chen stakeholder]",
        ),
        ("Hugo Berg wanted more tests, but we decided to release anyway.", "Decision []"),
        ("Bo Ray agreed to send the invoice by Dec. 15.", "Commitment due 12-15 [Bo Ray owner]"),
        ("The board approved the 2024 budget.", "Decision []"),
        ("The proposal was rejected by Ingrid Holm.", "Decision [Ingrid Holm owner]"),
        (
            "Ingrid Holm shipped the importer with Yusuf Demir last week.",
            "Execution [Ingrid Holm owner, Yusuf Demir contributor]",
        ),
        ("The data migration was completed on Tuesday.", "Execution []"),
        ("Checkout is blocked by a bug in PAY-77.", "QualityRisk []"),
        ("There is a risk that the audit slips.", "QualityRisk []"),
        ("We got feedback from Priya Raman on the wizard.", "Feedback [Priya Raman reviewer]"),
        ("The deadline moved from 1 April to 15 April.", "Change []"),
        ("Kim Larsen is the new owner of the billing service.", "Stakeholder [Kim Larsen owner]"),
        ("Zoran Petrov reports to Ingrid Holm.", "Stakeholder [Zoran Petrov owner, Ingrid Holm other]"),
        (
            "Dana Ortiz handed over the pager to Kim Larsen.",
            "Collaboration [Dana Ortiz owner, Kim Larsen contributor]",
        ),
        ("Alice Chen said she will finish the deck by Friday.", "Commitment due 03-15 [Alice Chen owner]"),
        ("The system will retry the request and customers will see a banner.", ""),
        ("Completed forms must be returned to the office.", ""),
        ("This reduces the risk of data loss.", ""),
        ("The library is released under the MIT license.", ""),
        ("Redis will handle the sessions.", ""),
    ];
    for (text, expected) in cases {
        let extraction = read(text);
        let lines: Vec<String> = extraction
            .events
            .iter()
            .map(|event| {
                let due =
                    event.due_time.map_or(String::new(), |due| format!(" due {}", due.strftime("%m-%d")));
                format!("{}{due} [{}]", event.category, names(&extraction, event).join(", "))
            })
            .collect();
        assert_eq!(lines.join(" / "), expected, "{text}");
    }
}

#[test]
fn personal_turns_give_what_the_speaker_did_and_means_to_do() {
    let turns = vec![
        segment("I adopted a puppy last week! He is so cute.", Some("Melody Grant")),
        segment("Aww! I'm going to visit my sister in June. How are you?", Some("Joanna")),
        segment("I'll miss you! It will be fun.", Some("Melody Grant")),
    ];
    let extraction = checked(&source(turns));
    assert_eq!(
        shown(&extraction),
        [
            "Execution [Melody Grant owner] I adopted a puppy",
            "Commitment due 06-30 [Joanna owner] I'm going to visit"
        ]
    );
    assert_eq!(extraction.events[0].narrative, "Melody Grant adopted a puppy last week!");
    assert_eq!(extraction.events[1].narrative, "Joanna is going to visit their sister in June.");
}

#[test]
fn context_is_understood_and_gives_no_events() {
    let mut request = segment("Bob, could you rotate the API keys by Monday?", Some("Alice Chen"));
    request.context_only = true;
    let mut promise = segment("I'll update the wiki tomorrow.", Some("Alice Chen"));
    promise.context_only = true;
    let extraction = checked(&source(vec![promise, request, segment("On it!", Some("Bob Martinez"))]));
    assert_eq!(
        shown(&extraction),
        ["Commitment due 03-18 [Bob Martinez owner, Alice Chen stakeholder] On it!"]
    );
    assert_eq!(extraction.events[0].evidence[1].segment, 1);
}

#[test]
fn the_assistant_promises_nothing() {
    let turns = vec![
        segment("Can you write a function that sorts names?", Some("user")),
        segment("Sure! I'll write it now. I have completed the function.", Some("assistant")),
    ];
    let extraction = checked(&source(turns));
    assert_eq!(shown(&extraction), Vec::<String>::new());
    assert!(extraction.entities.is_empty());
}

#[test]
fn one_person_is_one_entity_under_all_names() {
    let text = "From: alice.chen@acme.example\nTo: Bob Martinez\n\nBob, ask Alice or @achen. Alice Chen's plan is fine. Martinez knows. \
                Acme Robotics GmbH signed.";
    let extraction = read(text);
    let found: Vec<(&str, usize)> =
        extraction.entities.iter().map(|e| (e.name.as_str(), e.mentions.len())).collect();
    assert_eq!(found, [("Bob Martinez", 3), ("Alice Chen", 4), ("Acme Robotics GmbH", 1)]);
    assert_eq!(extraction.entities[1].aliases, ["Alice", "alice.chen@acme.example", "@achen"]);
}

#[test]
fn people_known_only_from_metadata_are_actors() {
    let mut mail = source(vec![segment("I'll send the contract by Monday.", None)]);
    mail.author = Some("Noor Aziz".into());
    mail.participants = vec!["Lena Holm".into()];
    let extraction = checked(&mail);
    assert_eq!(shown(&extraction), ["Commitment due 03-18 [Noor Aziz owner] I'll send the contract"]);
    assert_eq!(extraction.events[0].narrative, "Noor Aziz will send the contract by Monday.");
    assert_eq!(extraction.entities.len(), 2);
}

#[test]
fn narratives_can_be_read_without_the_source() {
    let extraction = read(MEETING);
    let narrative = |start: &str| {
        extraction
            .events
            .iter()
            .find(|e| e.evidence[0].quote.starts_with(start))
            .map(|e| e.narrative.as_str())
            .unwrap_or_default()
    };
    assert_eq!(narrative("Alice: finish"), "Alice Chen committed to finish the API design by Friday.");
    assert_eq!(narrative("@bob"), "Bob Martinez committed to draft the rollback plan by March 21st EOD.");
    assert_eq!(
        narrative("Bob is"),
        "Bob Martinez is waiting on schema review from Alice Chen, which may delay the migration."
    );
    assert_eq!(narrative("Vendor"), "Vendor contract for Project Apollo is not signed yet.");
}

#[test]
fn offsets_count_characters_after_multi_byte_text() {
    let text = "Notizen — Größe 漢字 🦀🦀 naïve.\n\nZoë Brontë will prepare the façade drawings by Friday.";
    let extraction = read(text);
    assert_eq!(shown(&extraction), ["Commitment due 03-15 [Zoë Brontë owner] Zoë Brontë will prepare"]);
    let evidence = &extraction.events[0].evidence[0];
    let taken: String = text.chars().skip(evidence.span.start).take(evidence.span.len()).collect();
    assert_eq!(taken, evidence.quote);
}

#[test]
fn the_same_source_always_gives_the_same() {
    for text in [MEETING, MAIL, CHAT, RECORD, STATUS] {
        let first = read(text);
        for _ in 0..3 {
            assert_eq!(read(text), first);
        }
    }
}

#[test]
fn no_text_makes_it_panic() {
    let odd = [
        "",
        "\n\n\n",
        ":",
        "- ",
        "|",
        "||",
        "|||||",
        "- [ ]",
        "- [x] ",
        "\u{feff}# \u{200b}",
        "@",
        "@@",
        "a@",
        "@a@b.c",
        "'s",
        "n't",
        "’ll",
        "\u{301}\u{301}I'll",
        "🦀: 🦀 will 🦀",
        "**",
        "** **: x",
        "[10:02]",
        "On \nwrote:",
        "> > >",
        "```",
        "--",
        "---\n---",
        "From:\nTo:\n",
        "İstanbul İ: İ will send İ by Friday",
        "ﬁ ﬂ ẞ Ǆ",
        "Alice\0Bob will send\0it",
        "\r\r\n\r",
        "a\u{2028}b",
        "I",
        "I will",
        "to",
        "(((((",
        "Alice (",
        "Alice, Alice, Alice: Alice to Alice by Alice",
    ];
    for text in odd {
        read(text);
    }
    for sample in [MEETING, MAIL, CHAT, RECORD, STATUS, TABLE] {
        for (at, _) in sample.char_indices().step_by(3) {
            read(&sample[..at]);
            read(&sample[at..]);
        }
        let shuffled: String = sample.chars().rev().collect();
        read(&shuffled);
        read(&sample.replace(' ', "\u{a0}é"));
    }
}

#[test]
fn a_long_text_has_a_bounded_number_of_events() {
    let text = "Alice Chen will send the report by Friday. ".repeat(300);
    let extraction = read(&text);
    assert!(extraction.events.len() <= text.len().div_ceil(1000) * 16);
    let owned =
        |e: &ExtractedEvent| e.category == Category::Commitment && e.actors[0].role == ActorRole::Owner;
    assert!(extraction.events.iter().all(owned));
}
