//! Only what the user wants of whoever helps, for longer than once, and whole.

use super::*;

fn of_all(text: &str) -> Vec<(&'static str, String)> {
    let of = |voice| found(said(voice, text)).into_iter().map(move |it| (voice, it.quote));
    ["user", "note"].into_iter().flat_map(of).collect()
}

#[test]
fn what_is_no_whole_statement_is_none() {
    for text in [
        "no he doesn't",
        "No, it isn't.",
        "no they never did",
        "nope, that's not it",
        "no that's wrong",
        "nothing so far",
        "nothing in advance",
        "nothing in particular",
        "never ever",
        "ever",
        "always",
        "because the pods share one address",
        "since the office is behind a proxy",
        "which is why the tests never pass",
        "so that the cache never fills up",
        "although they always say so",
        "than always before",
        "Only because it never worked.",
        "not yet",
    ] {
        assert_eq!(of_all(text), [], "{text}");
    }
    for text in [
        "Why do we get 429s? Because all pods share one address.",
        "How much was it? Nothing up front, they never ask for a deposit.",
        "Is she coming? No she isn't, she never does on weekdays.",
    ] {
        assert_eq!(of_all(text), [], "{text}");
    }
    for text in
        ["No spoilers please", "nothing with peanuts for me", "no I want short answers", "Never on Sundays."]
    {
        assert!(!found(said("preference", text)).is_empty(), "{text}");
    }
}

#[test]
fn what_is_taken_back_is_no_wish_of_its_own() {
    for text in
        ["Forget what I said about evenings only", "the carpet: not needed any more, the floor stays bare"]
    {
        assert!(found(said("user", text)).iter().all(|it| it.is_permission), "{text}");
    }
    let kept = found(said("user", "Always use pnpm in every repo, yarn is no longer needed."));
    assert!(kept.len() == 1 && !kept[0].is_permission, "{kept:?}");
}

#[test]
fn what_another_wants_is_none() {
    for text in [
        "Lucas wants every invoice paid within a week",
        "Petra needs all her reports by Friday morning",
        "my boss wants every report in PDF",
        "Our client expects all prices in euros",
        "My sister never wants to be called before ten",
        "Dr. Haas insists on short summaries",
        "the landlord always wants the rent in cash",
        "My manager would like all tickets closed before the weekend",
        "The customer prefers short answers",
        "Jonas asked us to always use tabs",
        "Mum hates it when people call after nine",
        "Their team always writes commit messages in French",
        "he wants class based views for new code, function ones stay as they are",
        "he doesn't mind the extension at all, only asks for no work on Sundays",
    ] {
        assert_eq!(of_all(text), [], "{text}");
    }
}

#[test]
fn remarks_of_reviewers_are_none() {
    for text in [
        "Review comments on #212:\n- please rename this function\n- never use unwrap here\n- add a test",
        "Reviewer: please move this into a helper and always check the result",
        "Review by Ana: please use const here, and avoid nested ifs",
        "nit: use a const here",
        "Feedback from Tom on the PR: please split this file and don't use globals",
        "PR review from Kim: never use var",
        "The reviewer wrote: please add docstrings",
        "Code review feedback from Lee:\n\n1. Use early returns.\n2. Don't repeat the query.",
    ] {
        assert_eq!(of_all(text), [], "{text}");
    }
    for text in ["In code reviews, always start with the tests.", "For reviews, never use sarcasm."] {
        assert_eq!(quotes(text).len(), 1, "{text}");
    }
}

#[test]
fn what_is_to_be_done_once_is_none() {
    for text in [
        "drop that branch",
        "remove those log lines",
        "shorten this section",
        "tidy up this function",
        "don't touch that file yet",
        "please rename these columns",
        "get rid of that import",
        "revert this commit",
        "make that title shorter",
        "polish these two sentences",
        "clean up those branches please",
        "use that screenshot",
        "and delete this one too",
        "keep that paragraph short",
        "ok now squash these commits",
        "don't change that line",
    ] {
        assert_eq!(of_all(text), [], "{text}");
    }
    for text in [
        "Never touch that server.",
        "Always run this script before you commit.",
        "From now on use this format for dates.",
        "don't use emojis in this project",
        "Whenever I paste a log, use this template.",
    ] {
        assert_eq!(quotes(text).len(), 1, "{text}");
    }
}
