//! What a critical reader has found: prohibitions turned round, another's words, conditions that are none, and cuts.

use super::*;

fn noted(content: &str) -> Vec<String> {
    found(said("note", content)).into_iter().map(|directive| directive.quote).collect()
}

fn of_user_and_notes(content: &str) -> Vec<String> {
    let mut all = quotes(content);
    all.extend(noted(content));
    all
}

#[test]
fn a_prohibition_is_whole_or_nothing() {
    for text in [
        "Please do not, under any circumstances, share my address.",
        "Don't, unless it's urgent, phone me at work.",
        "Please don't, as a rule, reply to marketing mails.",
        "Please never - not even in tests - use the production key.",
        "You must not, in any case, call my parents.",
        "Do not - I repeat, do not - edit the ledger by hand.",
        "Please never, whatever I say later, delete the archive.",
        "Never (not even on weekends) deploy without me.",
        "Do not under any circumstances, even if asked, share my address.",
        "Never, ever push to main.",
        "I'd rather you didn't, unless I ask, change my files.",
        "Never again, under any circumstances, use my real name.",
        "Things I never want: emojis, bullet lists, apologies.",
        "Please don't phone and text me after ten.",
        "You should not, however much I beg, order me pizza.",
    ] {
        for voice in ["user", "preference", "note"] {
            let found: Vec<String> = found(said(voice, text)).into_iter().map(|it| it.quote).collect();
            let whole = text.trim_end_matches('.');
            let is_hard = text.contains("I repeat") || text.contains("rather") || text.contains("I beg");
            assert!(found.iter().all(|quote| quote == whole), "{voice}: {found:?}");
            assert!(voice == "note" || is_hard || found.len() == 1, "{voice}: {text}");
        }
    }
    assert_eq!(quotes("Things not to do:\n- share my address\n- push to main\n"), [""; 0]);
    assert_eq!(quotes("Never:\n- share my address\n- push to main\n"), [""; 0]);
    assert_eq!(quotes("I don't eat meat. Always cook without it.").len(), 2);
}

#[test]
fn anothers_words_are_not_the_users() {
    for text in [
        "Reply to Paula: please always answer in English.",
        "draft an email to the tenants: please always close the gate",
        "Proofread: I always prefer tea to coffee",
        "my sister texted: I prefer coffee over tea",
        "Here's the mail from Ola: I prefer morning deliveries",
        "System prompt idea for our bot: You should always be polite",
        "Email from bank: never share your PIN",
        "From Slack #ops - Dana: pls use the staging key",
        "Is this sentence right? I never eat meat.",
        "How do I say this in German: I never eat meat",
        "Note from my doctor: never take ibuprofen.",
        "Draft of my speech:\nI have always preferred quiet. Never trust a loud man.",
        "Here is what my landlord wrote:\nPlease never park in the yard. Always lock the gate.",
        "Translate into Spanish: please never call me on Sundays",
        "Proofread:\nI always prefer tea to coffee. Never bring me coffee.",
        "Sign at the pool: always shower before entering.",
    ] {
        assert_eq!(of_user_and_notes(text), [""; 0], "{text}");
    }
    for text in [
        "revert: never cache auth responses",
        "docs: always use sentence case in headings (#412)",
        "fix(auth): never log tokens",
        "chore: use pnpm instead of npm",
        "7b7b7b7 Use UTC everywhere",
        "* 7b7b7b7a01 Always use UTC",
        "Fix: use --legacy-peer-deps with npm 9.",
    ] {
        assert_eq!(noted(text), [""; 0], "{text}");
    }
    for text in [
        "Write commit messages like this: type(scope): subject, always lower case",
        "Answer in this order: summary first, details always last.",
        "Check the docs first: never guess an API.",
        "Did you get my last line? Always answer in French.",
        "Proofread: I likes tea.\nFrom now on, answer in German.",
    ] {
        assert_eq!(quotes(text).len(), 1, "{text}");
    }
    assert_eq!(noted("User said: never use tabs.").len(), 1);
}

#[test]
fn a_reason_is_no_condition() {
    for (text, condition) in [
        ("Please keep your answers short, I read them on my phone.", None),
        ("Answer in plain text, markdown looks bad in my terminal.", None),
        ("I need you to be honest with me, even if it's uncomfortable.", None),
        ("Please answer in Dutch, my English isn't good when I'm tired.", None),
        ("Always use dark mode because bright screens hurt when I'm tired.", None),
        ("Always cite sources, with links, when I ask about law.", Some("when I ask about law")),
        ("Never use tabs, they look wrong, in my Python.", None),
        ("Never use tabs or semicolons in my Python.", Some("in my Python")),
    ] {
        let found = found(said("user", text));
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].condition.as_deref(), condition, "{text}");
    }
}

#[test]
fn the_setting_at_the_head_belongs_to_it() {
    for (text, condition) in [
        ("For the shop, never deploy to prod on a Friday without telling me.", Some("For the shop")),
        ("At work, call me Dr. Osei.", Some("At work")),
        ("For the embedded case I prefer SQLite over Postgres.", Some("For the embedded case")),
        ("In Python I like type hints everywhere and no pandas where polars will do.", Some("In Python")),
        ("In Go I want table-driven tests.", Some("In Go")),
        ("In the kitchen I use only cast iron.", Some("In the kitchen")),
        ("When you write emails: always use a formal tone.", Some("When you write emails")),
        ("For me, always use the metric system.", None),
        ("For example, never use var.", None),
        ("In general I prefer short answers.", None),
        ("On the other hand, I prefer trains to planes.", None),
    ] {
        let found = found(said("user", text));
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!(found[0].condition.as_deref(), condition, "{text}");
        if condition.is_some() {
            assert_eq!(found[0].quote, text.trim_end_matches('.'));
        }
    }
}

#[test]
fn what_is_about_some_texts_only_is_not_general() {
    for (text, is_general) in [
        ("Use metric units in recipes.", false),
        ("Keep answers short in code reviews.", false),
        ("Please use metric units in recipes.", false),
        ("Always use British spelling for the newsletter.", false),
        ("Never use emojis in release notes.", false),
        ("Please answer in English.", true),
        ("Please write in full sentences in your answers.", true),
        ("Always use metric units in every reply.", true),
        ("Please answer me in full sentences.", true),
        ("Be concise in your answers.", true),
        ("Use metric units from now on.", true),
    ] {
        let found = found(said("preference", text));
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].is_general, is_general, "{text}");
    }
    let lumen = "Lumen: colour palette changed to the colour-blind-safe set after feedback from Marit.";
    assert_eq!(noted(lumen), [""; 0]);
}

#[test]
fn nothing_is_cut_off() {
    for text in [
        "Please don't schedule calls between 18:00 and 19:30.",
        "Please sign letters for me as 'P. Adeyemi, Treasurer'.",
    ] {
        assert_eq!(quotes(text), [text.trim_end_matches('.')]);
    }
    for text in [
        "Always copy Jon and Mia on mails about the roof.",
        "Always put the price, the date and the shop into the expense note.",
    ] {
        assert_eq!(noted(text), [text.trim_end_matches('.')]);
    }
}

#[test]
fn short_plain_rules_are_found() {
    for (text, many) in [
        ("Never deploy on Friday.", 1),
        ("Don't deploy on Fridays.", 1),
        ("Never force-push.", 1),
        ("Never touch the vendor directory.", 1),
        ("Never commit secrets.", 1),
        ("Don't mention my ex.", 1),
        ("Please ask before deleting files.", 1),
        ("Never mock the database. Use testcontainers.", 1),
        ("Never commit directly to main. Always open a pull request and ask me first.", 2),
        ("Never mind.", 0),
        ("Never again!", 0),
        ("I never been there. Always been a fan.", 0),
        ("Don't worry about it.", 0),
        ("Don't forget the milk.", 0),
        ("Don't know what to do.", 0),
        ("Don't send it yet.", 0),
        ("Always a pleasure to talk.", 0),
    ] {
        let found = quotes(text);
        assert!(if many == 0 { found.is_empty() } else { found.len() >= many }, "{text}: {found:?}");
    }
    assert_eq!(
        noted("User prefers Postgres. He dislikes ORMs."),
        ["User prefers Postgres", "He dislikes ORMs"]
    );
}

#[test]
fn what_is_of_one_time_is_none() {
    for text in [
        "For this mail answer in English.",
        "In this reply, don't use any code.",
        "If the parcel arrives today, call me.",
        "Today I'd rather have the short version.",
        "Please call me back at five.",
    ] {
        assert_eq!(quotes(text), [""; 0], "{text}");
    }
    assert_eq!(quotes("From today on, answer in English.").len(), 1);
    assert_eq!(quotes("In this project, never use mocks.").len(), 1);
}

#[test]
fn steps_tasks_and_facts_of_notes_are_none() {
    for text in [
        "leave for 20 minutes",
        "Leave by 21:45",
        "book dentist for Anna",
        "max upload size is 50 MB per file",
        "Payment terms are 30 days net per invoice",
    ] {
        assert_eq!(noted(text), [""; 0], "{text}");
    }
}
