//! Whose words a turn, a post, a part of a list or a text is.

use super::{read, read_as, shown};

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
