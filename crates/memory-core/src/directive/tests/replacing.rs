//! What takes the place of what, from what is said to be over and from what is named instead.

use super::*;

fn gists(text: &str) -> Vec<Gist> {
    let gist = |one: &FoundDirective| Gist::new(&one.quote, one.condition.as_deref(), one.is_permission);
    found(said("preference", text)).iter().map(gist).collect()
}

fn takes_the_place(earlier: &str, later: &str) -> bool {
    let (earlier, later) = (gists(earlier), gists(later));
    assert!(!earlier.is_empty() && !later.is_empty());
    earlier.iter().all(|before| later.iter().any(|now| now.replaces(before)))
}

#[test]
fn what_is_said_to_be_over_and_what_is_used_instead_replaces() {
    for (earlier, later) in [
        ("User prefers npm.", "User prefers pnpm now."),
        ("User prefers unittest.", "User prefers pytest now."),
        ("User prefers tea.", "User prefers coffee now."),
        (
            "User: from now on always run `pnpm lint --fix` before you commit.",
            "User: stop running lint --fix before commits, the pre-commit hook does it now.",
        ),
        (
            "Use Jest for all frontend tests.",
            "We moved from Jest to Vitest, use Vitest for all frontend tests now.",
        ),
        ("Use Jest for all frontend tests.", "Use Vitest for all frontend tests now."),
        ("Always squash commits before merging.", "please don't squash commits any more"),
        ("Deploy only on Tuesdays.", "The Tuesday-only deploy rule is gone; deploy whenever CI is green."),
        ("Never deploy on Fridays.", "The no-Friday-deploys rule is dropped."),
        (
            "always run the full e2e suite before a release",
            "forget the full e2e suite, run only the smoke tests before a release",
        ),
        ("I don't drink coffee after 3pm.", "I drink coffee in the evening again, forget what I said."),
        ("We use yarn here, never npm.", "we switched to pnpm, don't use yarn any more"),
        ("User: use Poetry.", "User: we moved to uv, no more Poetry."),
        ("We use Jenkins for CI.", "We moved to GitHub Actions, Jenkins is gone."),
        ("Use Slack for alerts.", "Alerts go to PagerDuty now, not Slack."),
    ] {
        assert!(takes_the_place(earlier, later), "{earlier} | {later}");
    }
}

#[test]
fn what_goes_together_stays() {
    for (earlier, later) in [
        ("Use British English.", "Use Oxford commas."),
        ("User prefers tea.", "User prefers window seats now."),
        ("User prefers pytest.", "User prefers short answers now."),
        ("Use Jest for all frontend tests.", "Use pytest for all backend tests."),
        ("Use Vitest for unit tests.", "Use Playwright for e2e tests now."),
        ("Always squash commits before merging.", "Don't squash migrations."),
        ("User: use Poetry.", "User: use type hints."),
        ("We use yarn here, never npm.", "We use Postgres here, never MySQL."),
        ("We use yarn here, never npm.", "Publish the packages to npm on Fridays."),
        ("Always use `cargo fmt`.", "Always use `cargo clippy`."),
        ("Never commit .env files.", "Never commit .pem files."),
        ("Never use tabs in my Python.", "No more tabs in Go."),
        ("Don't use Jest.", "No more Jest, use Vitest."),
        ("Use spaces, never tabs.", "Never use tabs in Markdown."),
        ("I don't drink coffee after 3pm.", "I drink tea in the evening."),
    ] {
        assert!(!takes_the_place(earlier, later), "{earlier} | {later}");
    }
}

#[test]
fn the_change_is_told_with_what_follows_from_it() {
    assert_eq!(
        quotes("Forget the full e2e suite, always run only the smoke tests before a release."),
        ["Forget the full e2e suite, always run only the smoke tests before a release"]
    );
}
