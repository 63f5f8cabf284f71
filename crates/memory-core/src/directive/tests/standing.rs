//! Rules without a word that says so, what points back to what was said before it, and what is of the moment only.

use super::*;

/// The quotes and conditions of what one voice states.
fn stated(voice: &str, content: &str) -> Vec<(String, Option<String>)> {
    found(said(voice, content)).into_iter().map(|it| (it.quote, it.condition)).collect()
}

fn of_both(content: &str) -> Vec<String> {
    ["user", "note"].iter().flat_map(|voice| stated(voice, content)).map(|(quote, _)| quote).collect()
}

#[test]
fn what_points_back_is_kept_with_what_it_points_to() {
    for text in [
        "No calls before ten. And never on Sundays",
        "We don't call the clinic on Mondays. Or before nine on any other day",
        "The deploy key is in the vault. Never paste it into chat",
        "All amounts are kept in cents. Round only on the invoice",
        "Latex is out for me (swelling). Tell every dentist",
        "My budget for gifts is 30 euros. Never go higher",
        "My mother's birthday dinner is every 3 May. Never book over that",
        "On Mondays I have therapy and nothing gets booked over that",
    ] {
        assert_eq!(quotes(&format!("{text}.")), [text], "{text}");
    }
    let index = "Thanks, that is it. We don't merge on weekends. Or after six, honestly.";
    assert_eq!(quotes(index), ["We don't merge on weekends. Or after six, honestly"]);
}

#[test]
fn what_says_enough_by_itself_stays_alone() {
    for (text, quote) in [
        ("The report is due on Monday. Never use emojis in it.", "Never use emojis in it"),
        ("The trip is in May. Always book window seats.", "Always book window seats"),
        ("I was in Rome last year. And please answer in German from now on.", "answer in German from now on"),
        ("Is it there? Never paste it into chat.", "Never paste it into chat"),
        ("The key is in the vault.\n\nNever paste it into chat.", "Never paste it into chat"),
    ] {
        let found = quotes(text);
        assert!(
            found.len() == 1 && found[0].ends_with(quote) && found[0].len() < quote.len() + 8,
            "{found:?}"
        );
    }
    assert_eq!(quotes("Do we take the train? Or after four on any other day, always by bus?"), [""; 0]);
}

#[test]
fn what_a_rule_is_about_belongs_to_it() {
    for (text, condition) in [
        ("For the shell scripts in ops/, stick to POSIX sh", Some("For the shell scripts in ops/")),
        (
            "In the order service of the shop, prefer plain SQL over the ORM",
            Some("In the order service of the shop"),
        ),
        ("Run black and isort before you show me a diff", None),
        ("Run the linter and typecheck before you say you're finished", None),
        ("From now on every endpoint must have a rate limit", None),
        ("Never book anything on any other day", None),
        ("Don't give me anything sweet for my teeth", None),
    ] {
        let expected = vec![(text.to_owned(), condition.map(str::to_owned))];
        assert_eq!(stated("user", &format!("{text}.")), expected, "{text}");
    }
    assert_eq!(
        quotes("From now on all exports must be CSV, and never mix the columns."),
        ["From now on all exports must be CSV", "never mix the columns"]
    );
    assert_eq!(
        quotes("Write docs and run the tests before you push."),
        ["Write docs and run the tests before you push"]
    );
}

#[test]
fn a_condition_without_a_comma_ends_at_the_verb_of_the_instruction() {
    for (condition, rest) in [
        ("whenever you open a socket", "set a deadline on it"),
        ("When I ask something late at night", "give me two lines at most"),
        ("whenever you mention a study", "tell me the year"),
        ("When you change a migration", "run the tests on a fresh database"),
        ("when I paste a stack trace", "start with the line of my code"),
        ("whenever I send you a recipe", "convert it to grams"),
        ("every time you quote a price", "add the VAT"),
        ("when we talk about money", "use euros"),
    ] {
        let text = format!("{condition} {rest}");
        assert_eq!(stated("user", &text), [(text.clone(), Some(condition.to_owned()))]);
    }
    for text in [
        "when I came home the run was over",
        "whenever I go there the waiter gives me the best table",
        "every time I run the build it fails",
        "when I call the function add it throws",
        "when I asked them to give me a refund they refused",
        "if you want you can use the car",
    ] {
        assert_eq!(of_both(text), [""; 0], "{text}");
    }
}

#[test]
fn what_is_wanted_comes_with_its_label_or_with_when_it_is_to_be_remembered() {
    for (text, quote, condition) in [
        (
            "commit messages for the shop: please write them in Dutch from now on",
            "commit messages for the shop: please write them in Dutch from now on",
            Some("commit messages for the shop"),
        ),
        (
            "Remember for anything food or party related: Ida has a nut allergy.",
            "Remember for anything food or party related: Ida has a nut allergy",
            Some("for anything food or party related"),
        ),
        (
            "when I ask for a summary of a session give me at most five bullets, and dates always as ISO",
            "when I ask for a summary of a session give me at most five bullets, and dates always as ISO",
            Some("when I ask for a summary of a session"),
        ),
        (
            "From now on, before any deploy to the shop list the pending migrations for me and wait for my ok.",
            "From now on, before any deploy to the shop list the pending migrations for me and wait for my ok",
            Some("before any deploy to the shop"),
        ),
    ] {
        let wanted = [(quote.to_owned(), condition.map(str::to_owned))];
        assert_eq!(stated("user", text), wanted, "{text}");
    }
}

#[test]
fn bans_and_rules_of_a_house_are_found() {
    for text in [
        "no candles in this flat",
        "please no peanuts in our kitchen",
        "no hostels with shared bathrooms",
        "no meetings after 4",
        "We don't merge on weekends",
        "we never cook with peanuts in this house",
        "my home address mustn't appear in the newsletter",
        "our client's name must never be in the case study",
        "Shellfish is out for me",
        "I need a kettle in hotel rooms",
        "I want an aisle seat on planes",
        "Every commit message has to name the ticket",
        "chapter titles aren't numbered in my novels",
        "For haircuts only Samira",
        "Milo is only allowed one treat a day",
    ] {
        let found: Vec<String> = stated("user", text).into_iter().map(|(quote, _)| quote).collect();
        assert_eq!(found, [text.trim_start_matches("please ")], "{text}");
    }
    for text in [
        "Keys that end up in the cache must have a TTL",
        "We don't merge on weekends",
        "The user wants the digest to come out on the last Friday of the month",
        "User likes the corner table",
        "User likes the aisle seat",
    ] {
        assert_eq!(stated("note", text), [(text.to_owned(), None)]);
    }
}

#[test]
fn what_only_looks_like_a_ban_is_none() {
    assert_eq!(stated("note", "All visitors must sign in at the desk."), []);
    for text in [
        "no word from the landlord",
        "no eggs left",
        "no buses before 11 today",
        "no seats free in the afternoon",
        "no parking on Sundays",
        "no errors in the log",
        "no buses in my village",
        "we don't merge today",
        "We don't have a staging server in this project.",
        "We don't deploy, the pipeline is broken",
        "I need a bath mat by Friday",
        "I need a room in a hotel near the station",
        "the error must be in the parser",
        "it mustn't have been easy on her",
        "Friday is out for me",
        "For the meter only twenty minutes are left",
        "the photos aren't sorted in my album yet",
        "User likes the new logo.",
        "The user wants the report by Friday.",
    ] {
        assert_eq!(of_both(text), [""; 0], "{text}");
    }
}

#[test]
fn what_is_of_the_moment_or_of_another_is_none() {
    for text in [
        "Hanna doesn't eat rice any more",
        "Grandma never goes out at night any more",
        "Dad no longer drives on the motorway now",
        "call me back as soon as you have an answer ready",
        "tell me when the import is through",
        "when it's ready send me the link",
        "use the test account for the next run",
        "stop it, enough of this",
        "from now on it gets warmer every week",
        "I'd rather not think about last weekend",
        "never heard of that error before, what is ECONNRESET",
        "Ben: no, please don't!",
        "I need a big screen and edit photos at the weekend",
        "I need long battery life and do some Rust",
        "don't merge, main is broken",
        "Don't wake the baby, she's asleep",
    ] {
        assert_eq!(of_both(text), [""; 0], "{text}");
    }
    assert_eq!(quotes("Also Marek doesn't eat olives"), [""; 0]);
    for text in [
        "Always ping me when the build is done",
        "Don't use tabs, the linter is strict",
        "I'd rather not talk about my ex",
        "Stop using emojis",
    ] {
        assert_eq!(quotes(text), [text]);
    }
}

#[test]
fn what_somebody_cannot_have_or_needs_for_long_is_told() {
    for text in [
        "I have a walnut allergy",
        "I've got coeliac disease",
        "The user has a severe nut allergy",
        "My allergies: pollen, cats",
        "I take blood thinners",
        "I use a wheelchair",
        "I can't have dairy",
    ] {
        assert_eq!(of_both(&format!("{text}.")), [text, text], "{text}");
    }
    for text in [
        "I have an appointment for my asthma.",
        "I have no allergies.",
        "My brother has a nut allergy.",
        "I can't have it before Monday.",
        "I take the bus.",
        "I have a cold today.",
        "Do I have an allergy?",
    ] {
        assert_eq!(of_both(text), [""; 0], "{text}");
    }
}

#[test]
fn the_last_of_two_nouns_belongs_to_a_rule() {
    for text in [
        "Don't lend the trailer to anyone except Piet and the scouts",
        "Always use big fonts and strong contrast",
    ] {
        let found = stated("note", &format!("{text}."));
        assert_eq!(found.iter().map(|(quote, _)| quote.as_str()).collect::<Vec<_>>(), [text]);
    }
}
