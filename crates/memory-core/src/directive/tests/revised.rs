//! What is taken back in other words, and what is only allowed somewhere.

use super::*;

fn gists(voice: &str, text: &str) -> Vec<Gist> {
    let found = found(said(voice, text));
    found.iter().map(|one| Gist::new(&one.quote, one.condition.as_deref(), one.is_permission)).collect()
}

fn takes_the_place(earlier: &str, later: &str) -> bool {
    let text = earlier;
    let earlier = gists("preference", text);
    assert!(!earlier.is_empty(), "{text}");
    let later = gists("user", later);
    earlier.iter().all(|before| later.iter().any(|now| now.replaces(before)))
}

#[test]
fn why_something_is_unwanted_keeps_nothing_standing() {
    for (earlier, later) in [
        (
            "please no exclamation marks, I feel shouted at",
            "you may use the occasional exclamation mark again",
        ),
        ("never use emojis, it's so childish", "a few emojis are fine again"),
        ("no bullet points please, it reads like a slide deck", "the odd bullet point is okay now"),
        ("don't use footnotes, they are lost on my reader", "you can use some footnotes again"),
        ("Never write em dashes, my editor hates them.", "Em dashes are fine again, new editor."),
    ] {
        assert!(takes_the_place(earlier, later), "{earlier} | {later}");
    }
}

#[test]
fn what_is_scrapped_is_described_by_what_it_was() {
    let dutch = "commit messages for brackwater: please write them in Dutch from now on, Daan asked for it";
    for (earlier, later) in [
        (dutch, "Scrap the Dutch commit messages for Brackwater, the Polish team complained."),
        ("Send me a weekly spending report on Sundays.", "forget the weekly spending report, please"),
    ] {
        assert!(takes_the_place(earlier, later), "{earlier} | {later}");
    }
    for (earlier, later) in [
        (dutch, "Scrap the Dutch cheese order, nobody eats it."),
        (dutch, "I had to scrap the Dutch commit messages at my old job."),
        ("Send me a weekly spending report on Sundays.", "Don't forget the weekly spending report."),
        ("Send me a weekly spending report on Sundays.", "Did I forget the weekly spending report?"),
    ] {
        assert!(!takes_the_place(earlier, later), "{earlier} | {later}");
    }
}

#[test]
fn what_only_takes_something_back_is_told_from_what_holds_instead() {
    for quote in [
        "so you needn't poke me on Fridays any more",
        "Oh and scrap that thing about keeping Sundays after lunch free, they've folded the choir",
        "no need to explain every step any more",
        "the rule about mornings doesn't hold any longer",
        "Oh and the calendar weeks next to dates: you can stop that, Ilka switched the planning to normal dates",
    ] {
        assert!(only_takes_back(quote, true), "{quote}");
    }
    for quote in [
        "forget Harvard, we're on Vancouver now",
        "the rule about mornings doesn't hold any longer, but please nothing after four",
        "forget the footnotes, use endnotes instead",
        "coffee's back on the menu",
        "you may use emojis again",
        "once you can stop the pump by hand, write that down",
    ] {
        assert!(!only_takes_back(quote, true), "{quote}");
    }
    assert!(only_takes_back("the lot, so you needn't poke me on Fridays any more", false));
    assert!(!only_takes_back("no need for greetings", false));
    assert!(!only_takes_back("I don't have dairy any more", false), "that is a wish");
}

#[test]
fn requests_for_work_are_told_from_questions_of_facts() {
    for question in [
        "Draft an offer to Mrs Wainwright for altering three skirts",
        "Find me a slot on a weekday for a new client",
        "please plan our dinners for the week",
        "Compose a letter to the town hall asking for a subsidy",
    ] {
        assert!(asks_for_work(question), "{question}");
    }
    for question in
        ["Find Jonas's number", "Tell me who came on Friday", "How tall is it?", "Postgres settings"]
    {
        assert!(!asks_for_work(question), "{question}");
    }
}

#[test]
fn a_bound_on_length_ends_where_there_is_none_any_more() {
    for (earlier, later) in [
        ("keep your answers to three sentences", "go into as much detail as you want from now on"),
        ("Keep answers under 100 words.", "From now on write as long as you like."),
        ("keep your replies to one paragraph", "length doesn't matter any more"),
        ("keep answers short", "there is no word limit any more"),
        ("limit your answers to five bullets", "take all the space you need from now on"),
        ("please keep answers brief", "from now on as detailed as it takes, please"),
    ] {
        assert!(takes_the_place(earlier, later), "{earlier} | {later}");
    }
    for (earlier, later) in [
        (
            "keep your answers to three sentences",
            "From now on write as much as you like in the release notes.",
        ),
        ("Keep commit messages under 50 characters.", "go into as much detail as you want from now on"),
        ("keep answers short", "I can walk as far as I like again"),
        ("Never use emojis in your answers.", "go into as much detail as you want from now on"),
        ("keep your answers to three sentences", "write as much as you like about the trip"),
    ] {
        assert!(!takes_the_place(earlier, later), "{earlier} | {later}");
    }
}

#[test]
fn what_is_given_up_for_another_ends() {
    for (earlier, later) in [
        ("Always cite in APA style.", "forget APA, we're using Chicago now"),
        ("Always cite in APA style.", "scrap APA, we're using Chicago now"),
        ("Always use IEEE citations.", "Scratch IEEE, it's Nature style now."),
        ("Always format the code with black.", "we've moved from black to ruff"),
        ("Always use yarn for installs.", "We switched from yarn to pnpm last week."),
        ("Always run the tests with mocha.", "the team has migrated from mocha to vitest"),
        ("Always put tickets into Jira.", "Jira is history, we're on Linear now"),
        ("Always lint with flake8.", "we dropped flake8 for ruff"),
        ("Always use Slack for alerts.", "We've moved off Slack, it's Teams now."),
        ("Always deploy with Capistrano.", "we replaced Capistrano with Kamal"),
    ] {
        assert!(takes_the_place(earlier, later), "{earlier} | {later}");
    }
    for (earlier, later) in [
        ("Always suggest vegetarian dinners.", "forget dinner, we're on the train now"),
        ("Always format the code with black.", "we've moved from Leeds to York"),
        ("Never use tabs.", "we've moved from tabs to spaces"),
        ("Always use yarn for installs.", "they moved from yarn to pnpm"),
        ("Always use yarn for installs.", "should we move from yarn to pnpm?"),
        ("Always put meetings into the calendar.", "forget the meeting, the train is late"),
        ("Always use pnpm for installs.", "we moved from yarn to pnpm"),
    ] {
        assert!(!takes_the_place(earlier, later), "{earlier} | {later}");
    }
}

#[test]
fn what_one_thing_may_have_is_for_no_other() {
    for text in [
        "Bea's birthday card may have exclamation marks, as many as you like, nothing else though.",
        "The changelog may have emojis if you like",
    ] {
        for found in found(said("preference", text)) {
            assert!(!found.is_general, "{found:?}");
        }
    }
}

#[test]
fn what_is_allowed_somewhere_leaves_the_rule_as_it_is() {
    for (earlier, later, setting) in [
        ("Never use emojis.", "Emojis are fine in birthday cards", "in birthday cards"),
        ("No tables in your answers please.", "tables are okay in the readme", "in the readme"),
        (
            "Never use exclamation marks.",
            "you can use exclamation marks in the party invitations",
            "in the party invitations",
        ),
        (
            "Don't use bullet points.",
            "bullet points are allowed when there are more than six items",
            "when there are more than six items",
        ),
        ("Never use jargon.", "jargon is ok for the spec", "for the spec"),
        ("Always answer in German.", "English is fine in code comments", "in code comments"),
    ] {
        assert!(!takes_the_place(earlier, later), "{earlier} | {later}");
        let whole = Gist::new(later, None, true);
        assert!(
            gists("preference", earlier).iter().all(|before| whole.is_exception_to(before)),
            "{earlier} | {later}"
        );
        let found = found(said("user", later));
        assert_eq!(found.len(), 1, "{later}");
        assert_eq!((found[0].quote.as_str(), found[0].condition.as_deref()), (later, Some(setting)));
        assert!(!found[0].is_permission && !found[0].is_general, "it holds by itself: {later}");
    }
    for (earlier, later) in [
        ("Never use emojis.", "emojis are fine again"),
        ("Never use emojis in birthday cards.", "emojis are fine in birthday cards now"),
        ("No coffee after lunch please.", "coffee's back on the menu, the reflux has settled"),
        (
            "Never use async traits.",
            "the whole team is on a newer toolchain, async traits and all that are ok",
        ),
        (
            "Only touch the files that I name.",
            "you can be bolder: mend callers in other files if a change needs it",
        ),
    ] {
        let whole = Gist::new(later, None, true);
        assert!(
            !gists("preference", earlier).iter().any(|before| whole.is_exception_to(before)),
            "{earlier} | {later}"
        );
    }
    for text in
        ["dogs are fine in the park", "you can use the car for the trip", "parking is ok on the street"]
    {
        assert_eq!(quotes(text), [""; 0], "{text}");
    }
}

#[test]
fn what_is_said_of_another_case_is_not_held_against_a_rule_for_its_own() {
    let later = "Always include the narrator when I ask about audiobook recommendations.";
    let judged = Judged { directives: found(said("user", later)), ..Judged::default() };
    let held = &to_hold_against(later, &judged)[0];
    let books = "Always describe the genre when I ask about book recommendations";
    assert!(held.leaves(books, Some("when I ask about book recommendations")));
    let audiobooks = "Always describe the reader when I ask about audiobook recommendations";
    assert!(!held.leaves(audiobooks, Some("when I ask about audiobook recommendations")));
    assert!(!held.leaves("Never name the narrator", None));
}

#[test]
fn how_questions_are_answered_is_held_against_what_is_said_to_whoever_answers() {
    let leaves = |later: &str| {
        let judged = Judged { directives: found(said("preference", later)), ..Judged::default() };
        let earlier = "Always include narrators when I ask about audiobooks";
        let held = to_hold_against(later, &judged);
        assert!(!held.is_empty(), "{later}");
        held.iter().all(|held| held.leaves(earlier, Some("when I ask about audiobooks")))
    };
    assert!(leaves("I prefer print editions for series that I plan to reread."));
    assert!(!leaves("Never mention narrators."));
    assert!(!leaves("I prefer it when you leave the narrators out."));
}

#[test]
fn what_is_allowed_again_ends_an_earlier_directive_sooner_than_another_statement() {
    let against = [HeldAgainst { log_odds: 1.0, similarity: 0.46 }];
    let ends = |later: &str| {
        let judged = Judged { directives: found(said("user", later)), ..Judged::default() };
        to_hold_against(later, &judged)[0].ends(&against)
    };
    assert_eq!(ends("Joni eats fish again, you can plan it as before."), Some(0));
    assert_eq!(ends("The test was negative, so you may suggest aspirin again."), Some(0));
    assert_eq!(ends("Always plan fish on Fridays."), None);
}

#[test]
fn what_allows_something_somewhere_is_held_against_no_wider_rule() {
    let leaves = |later: &str, earlier: &str| {
        let judged = Judged { directives: found(said("user", later)), ..Judged::default() };
        let held = to_hold_against(later, &judged);
        held.iter().any(|held| held.leaves(earlier, None))
    };
    assert!(leaves("Emojis are fine in birthday cards. Thanks!", "Never use emojis"));
    assert!(!leaves("Emojis are fine again. Thanks!", "Never use emojis"));
    assert!(!leaves("Emojis are fine in birthday cards now.", "No emojis in birthday cards"));
}

#[test]
fn of_a_long_text_the_sentence_is_held_and_a_long_sentence_is_not() {
    let held = |text: &str| -> Vec<String> {
        let judged = Judged { directives: found(said("user", text)), ..Judged::default() };
        to_hold_against(text, &judged).into_iter().map(|held| held.text).collect()
    };
    let told = "Long one, sorry, I'm on the train and have an hour. The migration page is finished, I pushed it on Saturday, and nobody but Piet read the draft. ";
    let short = "From now on never put a call before ten.";
    assert_eq!(
        held(&format!("{told}{short} Piet says hello, and so does the dog, who ate the printed draft.")),
        [short]
    );
    let long = "So that thing about my mornings doesn't hold any longer, put things at half past eight for all I care, but please never book anything after four in the afternoon, apart from the monthly call, which is at six and can't be helped.";
    assert_eq!(held(&format!("{told}{long}")), [""; 0]);
}
