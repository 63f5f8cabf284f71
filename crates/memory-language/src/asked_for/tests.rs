//! What questions ask for.

use super::*;

#[test]
fn tasks_are_told_from_advice_and_from_what_there_is() {
    for question in [
        "What do I still have to do for the AGM?",
        "What do we need to do before the move?",
        "What is left to do for the wedding?",
        "What's still open for the release?",
        "Which tasks does Piet have for the summer party?",
        "What did Karl promise for the AGM?",
        "What did Lena take on?",
        "Is there anything I must do for the tax return?",
    ] {
        assert!(asks_for_tasks(question), "{question}");
    }
    for question in [
        "What is there to do in Lisbon?",
        "What should I do about the leak?",
        "Is the shop still open?",
        "Who was left out?",
        "What did Karl say about the AGM?",
        "How do I do the AGM?",
    ] {
        assert!(!asks_for_tasks(question), "{question}");
    }
}

#[test]
fn decisions_are_asked_for_by_name_or_verb() {
    for question in [
        "Which decisions did we take in October?",
        "What did we decide about the message queue?",
        "What was decided at the AGM?",
        "What was the decision on the database?",
        "decisions about the roof",
    ] {
        assert_eq!(asked_kind(question), Some(AskedKind::Decisions), "{question}");
    }
    for question in [
        "Who decides about leave?",
        "Why do I decide so slowly?",
        "What should we choose?",
        "What does Mia think about Eva's decision to move?",
        "Which career has Eva decided to pursue?",
        "Who is the decision maker?",
    ] {
        assert_eq!(asked_kind(question), None, "{question}");
    }
    assert_eq!(asked_kind("What did Karl agree to do for the AGM?"), Some(AskedKind::OpenTasks));
    for (question, subject) in [
        ("What did we decide about the queue?", Some("the queue")),
        ("What was the decision on the database in March?", Some("database in March")),
        ("Which decisions were made for Orbit", Some("Orbit")),
        ("Which decisions did we take on 3 October?", None),
        ("What do we know about the queue?", None),
        ("What did we decide about that?", None),
    ] {
        assert_eq!(subject_of_decision(question), subject, "{question}");
    }
    assert!(AskedKind::Decisions.is_told_by("Decided: we go with Postgres."));
    assert!(!AskedKind::Decisions.is_told_by("Is it decided?"));
}

#[test]
fn a_question_is_told_by_what_it_asks_for() {
    for (question, expected) in [
        ("How many books am I aiming to read?", AskedFor::Facts),
        ("Can you recommend a book for the train?", AskedFor::Facts),
        ("Could you help me plan the week?", AskedFor::Facts),
        ("Where did you put the keys?", AskedFor::Facts),
        ("What did you recommend for the garden?", AskedFor::Answers),
        ("How did you help me balance the budget?", AskedFor::Answers),
        ("Which hotel have you just suggested?", AskedFor::Answers),
        ("Was I told to restart the router?", AskedFor::Answers),
        ("What was your advice about the lease?", AskedFor::Answers),
        ("Summarise what you told me about taxes", AskedFor::Summary),
        ("Can you give me a summary of my plans?", AskedFor::Summary),
        ("A short overview of the project, please", AskedFor::Summary),
        ("Zusammenfassung der Woche", AskedFor::Summary),
        ("Should I resume the download?", AskedFor::Facts),
    ] {
        assert_eq!(asked_for(question), expected, "{question}");
    }
}

#[test]
fn a_question_asks_for_the_order_of_time_or_not() {
    for question in [
        "Can you list the order in which I brought up aspects of my book club?",
        "List in order what I told you about the garden",
        "In what order did the outages happen?",
        "A chronological list of the releases",
        "In welcher Reihenfolge wurden die Server umgestellt?",
        "Raconte-moi dans l’ordre ce qui s'est passé",
        "¿En qué orden cronológico ocurrió?",
    ] {
        assert!(asks_for_order(question), "{question}");
    }
    for question in [
        "What did Anna order for lunch?",
        "What do I need in order to deploy?",
        "Which order was sent to Bob?",
        "Is the kitchen in order?",
        "What is the status of order 1234?",
    ] {
        assert!(!asks_for_order(question), "{question}");
    }
}

#[test]
fn all_wishes_are_asked_for_by_name_alone() {
    for question in [
        "Which wishes hold now?",
        "What are my preferences?",
        "list the user's standing instructions",
        "Which instructions should you follow?",
        "What are the current directives",
    ] {
        assert!(asks_for_wishes(question), "{question}");
    }
    for question in [
        "What are my preferences for hotels?",
        "Which house rules are there?",
        "What did Ann wish for?",
        "What holds the shelf?",
        "instructions",
    ] {
        assert!(!asks_for_wishes(question), "{question}");
    }
}

#[test]
fn what_is_due_is_asked_for_in_few_words() {
    for question in ["What is overdue?", "deadlines this week", "what's due tomorrow"] {
        assert!(asks_for_due(question), "{question}");
    }
    for question in ["Who wrote the report that was due in March last year?", "Where is the residue?"] {
        assert!(!asks_for_due(question), "{question}");
    }
    assert!(asks_for_questions("Which questions did Ann have?") && !asks_for_questions("the task"));
}
