//! Whose words a turn, a post, a part of a list or a text is.

use super::{read, read_as, shown};

/// Whether someone owns no promise of a text.
#[track_caller]
fn is_not_of(author: Option<&str>, text: &str, owner: &str) {
    let found = shown(&read_as(author, &[], text));
    assert!(!found.iter().any(|line| line.contains(&format!("{owner} owner"))), "{text}: {found:?}");
}

/// Whether a text, by nobody who is known, gives a promise with its owner, as they are shown.
fn holds(text: &str, wanted: &str) {
    let found = shown(&read_as(None, &[], text));
    assert!(found.iter().any(|line| line.contains(wanted)), "{text}: {found:?}");
}

#[test]
fn turns_without_a_colon_and_numbered_posts_are_their_writers() {
    let chat = "**kim.b** 21:07 anyone seeing slow checkouts?\n**lena.o** 21:08 all green here\n\
                **kim.b** 21:09 I'll write to the vendor by Monday\n**lena.o** 21:10 night all";
    holds(chat, "[kim.b owner]");
    let chat = "21:07 **kim.b** anyone seeing slow checkouts?\n21:08 **lena.o** all green here\n\
                21:09 **kim.b** I'll write to the vendor by Monday\n21:10 **lena.o** night all";
    holds(chat, "[kim.b owner]");
    let posts = "**Post 1 – Sigríður**\nWhy not in autumn?\n\n**Post 2 – Eamon**\nBecause of the data.\n\n\
                 **Post 3 – Sigríður**\nI'll run a small pilot by Monday.\n";
    holds(posts, "[Sigríður owner]");
    let thread = "From: Torvald Engh, on patch 5/7\nThis is version three.\n\nFrom: Yun-ah Paik, on patch 2/7\n\
                  Should that not be an error?\n\nFrom: Torvald Engh, on patch 2/7\nI'll send the next version by Monday.\n";
    holds(thread, "[Torvald Engh owner]");
}

#[test]
fn below_a_name_stands_what_that_person_does() {
    let standup = "**Wed 13 March**\n\nHyun-woo\ny: finished the retry logic\nt: I'll write the load test by Monday\n\n\
                   Philippa\ny: interviews\nt: will write the runbook for the queue\n";
    holds(standup, "[Hyun-woo owner]");
    holds(standup, "[Philippa owner]");
    let list = "# Review\n\n- **Alice**\n  - I'll put the calendar page up by Monday.\n- **Bob**\n  - I fixed the map.\n";
    let found = shown(&read(list));
    assert!(found.iter().any(|line| line.starts_with("Commitment") && line.contains("[Alice")), "{found:?}");
}

#[test]
fn each_part_of_a_stand_up_is_of_whom_its_line_names() {
    let lines = "Ottilie — did: finished the CSV importer / will: write the docs for it\n\
                 Chen Wei — did: moved the logs to S3 / will: rotate the keys\n";
    let expected = [
        "Execution [Ottilie owner] finished the CSV importer",
        "Commitment [Ottilie owner] write the docs for",
        "Execution [Chen Wei owner] moved the logs to",
        "Commitment [Chen Wei owner] rotate the keys",
    ];
    assert_eq!(shown(&read(lines)), expected);
    let blocks = lines.replace(" — did", "\n  did").replace(" / will", "\n  will");
    assert_eq!(shown(&read(&blocks)), expected, "{blocks}");
    let slash = "Ann-Kathrin — rolled out the image / will tidy the modules by Monday\n";
    holds(slash, "Execution [Ann-Kathrin owner] rolled out the image");
    holds(slash, "Commitment due 03-18 [Ann-Kathrin owner] will tidy the modules");
    let commas =
        "Anna: yesterday finished the importer, today I will write the docs, blockers: no access to the wiki";
    holds(commas, "Execution [Anna owner] yesterday finished the importer");
    holds(commas, "Commitment due 03-15 [Anna owner] today I will write");
}

#[test]
fn an_item_with_a_name_and_a_deed_is_theirs_and_so_is_what_stands_deeper() {
    let items = "- Bronwen: migrated the last customers\n  Next: send the keys on Monday\n\
                 - Peter: fixed the leak\n  Today: test the pump\n";
    assert_eq!(
        shown(&read(items)),
        [
            "Execution [Bronwen owner] Bronwen: migrated the last",
            "Commitment due 03-18 [Bronwen owner] send the keys on",
            "Execution [Peter owner] Peter: fixed the leak",
            "Commitment due 03-15 [Peter owner] test the pump",
        ]
    );
    holds("Anna:\n- finished the importer\n- will write the docs\n", "Execution [Anna owner] finished");
    holds(
        "**Ottilie**\nYesterday: finished the importer\nToday: write the docs\n",
        "Execution [Ottilie owner]",
    );
}

#[test]
fn yesterday_and_today_above_a_list_are_its_days() {
    let found =
        read_as(Some("Nils"), &[], "*Yesterday*\n- closed 4 tickets\n*Today*\n- write the release notes\n");
    let day = |time: Option<jiff::Timestamp>| time.map(|time| time.strftime("%m-%d").to_string());
    let days: Vec<_> = found.events.iter().map(|it| (day(it.event_time), day(it.due_time))).collect();
    let [yesterday, today] = ["03-14", "03-15"].map(|day| Some(day.to_owned()));
    assert_eq!(days, [(yesterday.clone(), None), (today.clone(), today)]);
    let letters = read_as(Some("Kofi"), &[], "Y: merged the rate limiter\nT: write the docs\nB: none\n");
    assert_eq!(shown(&letters)[0], "Execution [Kofi owner] merged the rate limiter");
    assert_eq!(day(letters.events[0].event_time), yesterday);
}

#[test]
fn a_line_that_says_who_wrote_it_says_its_i() {
    holds(
        "Weekly report\nStudent: Kim Larsen · Topic: leaks\n\nI'll send the draft by Monday.",
        "[Kim Larsen owner]",
    );
    holds(
        "How we answer mail\n\n*9 June 2023, by Kim Larsen*\n\nI'll send the draft by Monday.",
        "[Kim Larsen owner]",
    );
}

#[test]
fn names_in_small_letters_speak_and_keys_of_a_file_do_not() {
    let chat = "jorun: has anyone heard from them?\npelle: no idea\njorun: could you ask\npelle: I'll write to them by Monday\n";
    holds(chat, "[pelle owner]");
    let file = "image: web\nreplicas: three\nimage: I'll write to them by Monday\nreplicas: one\nname: web\nkind: set\nport: none\n";
    let found = shown(&read_as(None, &[], file));
    assert!(!found.iter().any(|line| line.contains("image owner")), "{found:?}");
}

#[test]
fn who_wrote_a_book_or_a_day_did_not_write_the_note() {
    let note = "Reading notes: Dune, by Frank Herbert\n\nI'll finish it by Friday.";
    let found = shown(&read_as(Some("Kim Larsen"), &[], note));
    assert!(found.iter().any(|line| line.contains("[Kim Larsen owner]")), "{found:?}");
    is_not_of(None, "Please send your slots, by June\n\nI'll send the list by Friday.", "June");
    let byline = "9 June 2023, by Frank Herbert\n\nI'll finish it by Friday.";
    let found = shown(&read_as(Some("Kim Larsen"), &[], byline));
    assert!(found.iter().any(|line| line.contains("[Kim Larsen owner]")), "{found:?}");
}

#[test]
fn days_sprints_and_updates_do_not_speak() {
    is_not_of(None, "2024-03-14\ndid: parser\ndoing: I'll write the tests by Friday\n", "2024-03-14");
    is_not_of(None, "sprint-42\ntoday: I'll write the tests by Friday\n", "sprint-42");
    is_not_of(None, "quibbet\ntoday: I'll write the tests by Friday\n", "quibbet");
    let updates = "**Update** 14:30 rolled back\n**Update** 15:10 I'll write the report by Monday\n";
    is_not_of(None, updates, "Update");
}

#[test]
fn the_inner_of_two_names_says_what_is_below_it() {
    let list = "# Review\n\n- Alice\n  - Bob\n    - I'll fix the map by Monday.\n";
    is_not_of(None, list, "Alice");
    let own = "# Review\n\n- Bob\n  - I'll send him the contract by Monday.\n";
    is_not_of(Some("Kim Larsen"), own, "Bob");
}

#[test]
fn subjects_of_comments_and_bounds_do_not_speak() {
    let thread = "**Comment 1 – Noise**\nI'll measure it by Monday.\n\n**Comment 2 – Dust**\nIt is bad.\n\n**Comment 3 – Noise**\nIt is loud.\n";
    is_not_of(None, thread, "Noise");
    let bounds = read_as(None, &[], "min: 1\nmax: 5\nmin: 2\nmax: 9\n").entities;
    assert!(!bounds.iter().any(|entity| entity.name == "max" || entity.name == "min"), "{bounds:?}");
}

#[test]
fn a_commit_is_what_its_author_did_on_its_day() {
    let log = "commit 5510aa9\nAuthor: Kenji Mori <kenji@example.org>\nDate:   Fri Feb 9 10:01:02 2024 +0100\n\n    I'll write the guide\n\n\
               commit 77aa012\nMerge: 1234567 89abcde\nAuthor: Aditya Rao <a@example.org>\nDate:   Thu Feb 8 09:00:00 2024 +0100\n\n    I fixed the lock\n";
    let extraction = read(log);
    let found = shown(&extraction);
    assert!(found.iter().any(|line| line.starts_with("Execution [Kenji Mori owner]")), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("Execution [Aditya Rao owner]")), "{found:?}");
    let days: Vec<String> = extraction
        .events
        .iter()
        .filter_map(|event| Some(event.event_time?.strftime("%m-%d").to_string()))
        .collect();
    assert_eq!(days, ["02-09", "02-08"], "{found:?}");
}

#[test]
fn the_subject_of_a_commit_says_what_was_done() {
    let log = "commit 5510aa9f\nAuthor: Kenji Mori <kenji@example.org>\nDate:   Fri Feb 9 10:01:02 2024 +0100\n\n    Add retry to the uploader\n\n    \
               Uploads fail now and then.\n\ncommit 77aa0123\nAuthor: Aditya Rao <a@example.org>\nDate:   Thu Feb 8 09:00:00 2024 +0100\n\n    fix(parser): handle empty input\n\n\
               commit 88aa0123\nMerge: 1234567 89abcde\nAuthor: Aditya Rao <a@example.org>\nDate:   Thu Feb 8 09:00:00 2024 +0100\n\n    Merge branch 'main' into retry\n";
    let found = shown(&read(log));
    let told: Vec<&String> = found.iter().filter(|line| line.starts_with("Execution")).collect();
    assert!(told[0].starts_with("Execution [Kenji Mori owner] Add retry to the"), "{found:?}");
    assert!(
        told[1].starts_with("Execution [Aditya Rao owner]") && told[1].contains("andle empty input"),
        "{found:?}"
    );
    assert!(!found.iter().any(|line| line.contains("Merge branch")), "{found:?}");
    let short = "5510aa9f (HEAD -> main) Add retry to the uploader\n77aa0123 Remove Python 3.8\n88bb0123 WIP: new page\n";
    assert_eq!(shown(&read(short)).iter().filter(|line| line.starts_with("Execution")).count(), 2);
}
