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
        (
            "Only mark what is weak.",
            "From now on just write me a better paragraph, forget what I said about only marking.",
        ),
        ("No emojis in mails.", "Scratch what I said about emojis in mails, a few are fine."),
        ("Always answer in bullet points.", "Ignore what I told you about bullet points."),
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

#[test]
fn what_is_of_another_setting_or_another_object_stays() {
    for (earlier, later) in [
        ("Write commit messages in English.", "Write release notes in German."),
        ("Use tabs in Go files.", "Use spaces in Python files instead of tabs."),
        ("Use fetch() in the web app.", "Use axios instead of fetch() in the CLI."),
        ("Use Postgres in production.", "Use SQLite instead of Postgres in unit tests."),
        ("Use moment in legacy/.", "Use dayjs instead of moment in new code."),
        ("Write dates as 2025-03-01 in logs.", "Write dates as 1 March 2025 in letters."),
        ("Always run the tests on Linux.", "Don't ask before running tests."),
        ("Don't ask before running tests.", "Ask before running migrations."),
        ("No emojis in commit messages, please", "Keep commit messages under 5 lines."),
        (
            "Going forward use var(--font-sans) instead of hard-coded \"Inter\", sans-serif",
            "Write code comments in French.",
        ),
        ("Use Python 3.10 in CI.", "Use Python 3.12 on laptops."),
        ("Use print() in notebooks.", "Use print() in scripts."),
    ] {
        assert!(!takes_the_place(earlier, later), "{earlier} | {later}");
        assert!(!takes_the_place(later, earlier), "{later} | {earlier}");
    }
}

#[test]
fn a_word_inside_code_is_no_verb() {
    let of_files = "Prefer `Path.read_text()` over `open(...).read()`.";
    for later in ["Don't read process.env directly.", "Stop opening draft PRs."] {
        assert!(!takes_the_place(of_files, later), "{later}");
    }
    assert!(takes_the_place(of_files, "Prefer `open(...).read()` over `Path.read_text()` now."));
}

#[test]
fn what_is_narrower_leaves_the_wider_as_it_is() {
    for (earlier, later) in [
        ("Never use print().", "Use print() in notebooks."),
        ("Never use `eval`.", "You may use `eval` in tests."),
        ("Use `logger.info()` for logs.", "In tests use print() instead of `logger.info()`."),
        ("Write in English.", "Write release notes in German."),
        ("Answer in English.", "Answer legal questions in German."),
        ("Never push to main.", "Push to main when the build is green."),
        ("Never use `eval`.", "When I ask about parsers, use `eval`."),
    ] {
        assert!(!takes_the_place(earlier, later), "{earlier} | {later}");
    }
    for (earlier, later) in [
        ("Never use print().", "Use print() now."),
        ("Never use `eval` in tests.", "You may use `eval` in tests again."),
        ("Never use print() in notebooks.", "Use print() in notebooks."),
        ("No emojis in commit messages.", "Use emojis in commit messages."),
        ("Never deploy on Fridays.", "Deploy on Fridays."),
        ("Answer in English.", "Answer in German."),
        ("Write commit messages in English.", "Write commit messages in German."),
        ("Write dates as 2025-03-01 in logs.", "Write dates as 1 March 2025 in logs."),
        ("Use fetch() in the web app.", "Use axios instead of fetch() in the web app."),
        ("Use Postgres.", "Use SQLite instead of Postgres."),
        ("Never use print().", "print() is fine again."),
        ("Don't ask before running tests.", "Ask before running tests."),
        ("Always run the tests on Linux.", "Don't run the tests on Linux."),
    ] {
        assert!(takes_the_place(earlier, later), "{earlier} | {later}");
    }
}

#[test]
fn the_statements_of_one_text_stay_beside_each_other() {
    for text in [
        "Never use `cd foo && make`; use `make -C foo`.",
        "Never use `git push --force`; use `git push --force-with-lease`.",
        "Write commits in English. Write release notes in German.",
        "Don't use print(). Use logger.debug() from now on.",
    ] {
        let gists = gists(text);
        assert_eq!(gists.len(), 2, "{text}");
        assert!(!gists[1].replaces(&gists[0]) && !gists[0].replaces(&gists[1]), "{text}");
    }
    let within = |text: &str| {
        let gists = gists(text);
        gists[1].replaces_within_text(&gists[0])
    };
    assert!(!within("Never use tabs. Use tabs."));
    assert!(within("Never use tabs. Actually, tabs are fine now."));
}

#[test]
fn a_rule_that_is_revoked_and_another_version_replace() {
    for (earlier, later) in [
        ("Always squash commits before merging.", "Forget the rule about squashing."),
        ("Always run ruff before committing.", "The ruff rule no longer applies."),
        ("Never push to main.", "Scratch that rule about pushing to main."),
        ("Use Python 3.10.", "Use Python 3.12."),
        ("Use Node 18.", "Use Node 20.11.1."),
    ] {
        assert!(takes_the_place(earlier, later), "{earlier} | {later}");
    }
    for (earlier, later) in [
        ("Never push to main.", "Forget the rule about squashing."),
        ("Use Python 3.10.", "Use Node 20."),
        ("Always run black.", "The ruff rule no longer applies."),
    ] {
        assert!(!takes_the_place(earlier, later), "{earlier} | {later}");
    }
}

#[test]
fn what_is_meant_once_is_not_kept() {
    for text in ["Please reply in English this time.", "This time, skip the tests."] {
        assert_eq!(found(said("preference", text)), [], "{text}");
    }
    assert_eq!(found(said("preference", "From this time on, always reply in English.")).len(), 1);
}

#[test]
fn a_part_or_another_act_takes_no_place() {
    for (earlier, later) in [
        ("Never use print().", "You can use print() in notebooks again."),
        ("Never use recursion.", "Use recursion for tree walks."),
        ("Don't write tests.", "Write tests for parsers."),
        ("Use 4 spaces.", "Use 2 spaces in YAML."),
        ("Never log secrets.", "Log requests at debug level."),
        ("Deploy on Mondays.", "Never deploy from a laptop."),
        ("Use `cargo test`.", "Don't use `cargo test --release`."),
        ("Never merge without review.", "Merge dependabot PRs without review."),
        ("Never force push.", "Force push is fine on my own branches now."),
        ("Review PRs within a day.", "Don't review draft PRs."),
        ("Always write unit tests.", "Don't write unit tests for generated code."),
        ("Always add docstrings.", "No docstrings in tests."),
        ("I prefer short answers.", "I prefer long answers when I ask about physics."),
        ("Use React for the web app.", "Use Vue for the admin app now."),
        ("Write docs in Markdown.", "Write the changelog in AsciiDoc."),
        ("Keep functions under 70 lines.", "Keep files under 400 lines."),
        ("Never commit without asking.", "Commit without asking in docs/."),
        ("Use two-space indentation.", "Use four-space indentation in Python."),
        ("Never use `git push`.", "Use `git push --force-with-lease` after a rebase."),
        ("Use single quotes.", "Use double quotes in JSON."),
        ("Always answer in English.", "Write SQL comments in German."),
        ("Keep answers short.", "Give long answers for architecture questions."),
        ("Never use mocks.", "Use mocks for the payment API."),
        ("Use pnpm.", "Use npm in the legacy folder."),
        ("Don't add comments.", "Add comments to public functions."),
        ("Run tests with pytest.", "Run benchmarks with hyperfine."),
        ("Name branches feature/x.", "Name tags v1."),
        ("Never mock the database.", "Back up the database before migrations."),
        ("Use Postgres 15.", "Use Postgres 16 in staging."),
        ("Always run the linter.", "Don't run the formatter."),
        ("Don't use abbreviations in variable names.", "Keep variable names short."),
        ("Use tabs.", "Use spaces in YAML."),
        ("Prefer `const` over `let`.", "Don't let tests hit the network."),
        ("Never deploy in May.", "Deploy in June."),
        ("Use conventional commits.", "Don't use conventional commits in the docs repo."),
        ("Prefer composition over inheritance.", "Prefer inheritance over mixins in Django views."),
        ("Never use any in TypeScript.", "Use any in test fixtures."),
        ("Always run migrations in a transaction.", "Don't run migrations automatically on startup."),
        ("Don't mention competitors in blog posts.", "Mention competitors in internal memos."),
        ("Use kebab-case for file names.", "Use snake_case for database columns."),
        ("Use camelCase in JS.", "Use snake_case in Python."),
        ("Log in JSON.", "Log errors to Sentry."),
        ("Use Redis for caching.", "Use Postgres instead of Redis for queues."),
        ("Keep PRs small.", "Don't keep branches open for weeks."),
        ("Always use type hints.", "Never use type comments."),
        ("Never use default exports.", "Use default exports for Next.js pages."),
        ("Write tests first.", "Don't write tests for scripts."),
        ("Never commit lockfiles.", "Commit Cargo.lock for binaries."),
        ("Answer in German.", "Write code in English."),
        ("Answer in German.", "Write emails to Tom in English."),
        ("Use metric units.", "Use imperial units for US customers."),
        ("Use formal tone in emails.", "Use casual tone in Slack."),
        ("Never use force unwraps.", "Force unwraps are fine in tests now."),
        ("Ask before deleting branches.", "Don't ask before creating branches."),
        ("Run `npm test` before pushing.", "Don't run `npm audit` before pushing."),
        ("Use 24-hour time.", "Use 12-hour time in the US app."),
        ("Name tests test_x.", "Name fixtures fx_x."),
    ] {
        assert!(!takes_the_place(earlier, later), "{earlier} | {later}");
    }
}

#[test]
fn the_same_said_otherwise_takes_the_place() {
    for (earlier, later) in [
        ("Don't add comments.", "Add comments from now on."),
        ("Don't add comments.", "Please add comments to the code."),
        ("Always write unit tests.", "Don't write unit tests."),
        ("Write docs in Markdown.", "Write docs in AsciiDoc."),
        ("Keep functions under 70 lines.", "Keep functions under 50 lines."),
        ("Always add docstrings.", "No docstrings please."),
        ("Never use recursion.", "Recursion is fine again."),
        ("No docstrings in tests.", "Always add docstrings in tests."),
        ("Use React for the web app.", "Use Vue for the web app now."),
        ("Use Prettier over ESLint.", "Use ESLint over Prettier."),
        ("Use tabs.", "Use spaces."),
        ("Use tabs in Go files.", "Use spaces in Go files."),
        ("Always answer in English.", "From now on answer me in Spanish."),
        ("Keep answers short.", "Give long answers."),
        ("Write tests with unittest.", "Write tests with pytest."),
        ("Use npm.", "Use pnpm instead of npm from now on."),
        ("Commit messages in English.", "Commit messages in German from now on."),
        ("Never push to main.", "You can push to main again."),
        ("Always ask before deleting files.", "No need to ask before deleting files anymore."),
        ("Always ask before deleting files.", "Don't ask before deleting files."),
        ("Use Rust 1.80.", "Use Rust 1.85 now."),
        ("Limit lines to 80 characters.", "Limit lines to 100 characters."),
        ("Use British English.", "Use American English."),
        ("Never use `eval`.", "Using `eval` is fine now."),
        ("Always use yarn.", "Never use yarn."),
        ("Use `print()` for debugging.", "Don't use print() for debugging."),
        ("Use the dark theme.", "Use the light theme now."),
        ("Use pip for installs.", "Use uv for installs now."),
        ("Always sign commits.", "Don't sign commits any more."),
        ("Always sign commits.", "The signing rule is gone."),
        ("Never use em dashes.", "Forget the em dash rule."),
        ("Never use em dashes.", "Ignore my rule about em dashes."),
        ("Use camelCase.", "Use snake_case."),
        ("Use Redis for caching.", "Use Memcached instead of Redis for caching."),
        ("Use Redis for caching.", "Use Memcached instead of Redis."),
        ("Always use type hints.", "Stop using type hints."),
        ("Never use default exports.", "You can use default exports again."),
        ("Ask before deleting branches.", "Don't ask before deleting branches."),
        ("Ask me before you push.", "You don't need to ask before pushing any more."),
        ("Always answer in German.", "Answer in English from now on."),
        ("Never commit lockfiles.", "Commit lockfiles."),
        ("Call me Tom.", "Call me Thomas."),
        ("Use 24-hour time.", "Use 12-hour time."),
        ("Use casual tone in emails.", "Use formal tone in emails."),
        ("Write release notes in German.", "Release notes in English from now on."),
        ("Deploy from main.", "Never deploy from main."),
        ("Don't use semicolons in JS.", "Use semicolons in JS."),
        ("Never use any in TypeScript.", "any is okay in TypeScript now."),
    ] {
        assert!(takes_the_place(earlier, later), "{earlier} | {later}");
    }
}
