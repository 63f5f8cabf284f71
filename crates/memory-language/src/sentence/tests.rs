use proptest::prelude::*;

use super::*;

fn count_sentences(text: &str) -> usize {
    sentences(text).count()
}

fn check(cases: &[(&str, usize)]) {
    let wrong: Vec<_> = cases
        .iter()
        .filter(|(text, count)| count_sentences(text) != *count)
        .map(|(text, count)| format!("{count} expected: {:?}", sentences(text).collect::<Vec<_>>()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn technical_prose_has_the_sentences_a_reader_counts() {
    check(&[
        ("Uses python-docx 1.2.0", 1),
        ("URL: https://dvdat-uks-01-es.develastic.nidemo.com/", 1),
        ("Visit https://example.com. Documentation available. Support provided. Fourth here.", 4),
        ("Ask Bob. Then Ann. Then Zoe. Then Max. Done.", 5),
        ("Log at C:\\Program Files\\App\\app.log. It grows. It fails. It dies. It returns.", 5),
        ("Dr. Smith met with U.S. representatives. Discussion was productive.", 2),
        ("First sentence.Second sentence.Third sentence.Fourth sentence.", 4),
        ("config.yaml is in /etc/app.d/main.conf", 1),
        ("一。二。三。四。", 4),
        ("Connected to ni-internal-dev.servicebus.windows.net successfully", 1),
        ("Server IP is 192.168.1.1 for local access", 1),
        ("Server at 10.0.0.1 hosts v2.1.0. Access via https://api.server.com. Ready for use.", 3),
        ("Files in U.S.A. use P.D.F. format. I.B.M. systems comply.", 2),
        ("System.Text", 1),
        ("java.util.List", 1),
        ("Final file: portfolio-anna-maria-kovalenko-v4.docx", 1),
        ("update_portfolio.py is main script", 1),
        (
            "Contains 2 main tables: planning (Section I) and activities (Section II) with 21 records and \
             appendices with certificates",
            1,
        ),
        (&"a".repeat(300), 1),
    ]);
}

#[test]
fn nothing_has_no_sentence_and_words_without_a_stop_have_one() {
    check(&[
        ("", 0),
        (" \t\r\n ", 0),
        ("...", 0),
        ("。！？", 0),
        (". . ? !", 0),
        ("a", 1),
        ("1.", 1),
        ("no stop at all", 1),
        ("🎉", 1),
        ("🎉🎉 🚀", 1),
        ("---", 1),
        ("Done. 🎉", 1),
        ("Done! 🎉 Next one.", 2),
        ("Done.🎉 Next one.", 2),
        ("👩‍🚀 flies. ❤️ stays.", 2),
        ("\u{feff}Hello.", 1),
        ("Hello. .", 1),
    ]);
}

#[test]
fn technical_tokens_keep_their_stops_to_themselves() {
    check(&[
        ("v2.1.0. Then v2.2.", 2),
        ("Runs on Node.js and ASP.NET today. Not on .NET 4.8.", 2),
        ("it's 3.14. Next", 2),
        ("Server=tcp:x.database.windows.net,1433;Database=y;", 1),
        ("The string is Server=tcp:x.database.windows.net,1433;Database=y;User ID=z;Password=p.q!r?s;", 1),
        ("postgres://user:pw@host:5432/db?sslmode=require", 1),
        ("Use postgres://user:pw@host.internal:5432/db?sslmode=require. It works.", 2),
        ("Stored as C:\\a b\\c.txt", 1),
        ("See ~/.ssh/config and ./run.sh or ../x.y. Both work.", 2),
        ("Stored under /var/log/. It rotates.", 2),
        ("Stored in /etc. Bob edits it.", 2),
        ("Mail foo@bar.com. Ann reads first.last+tag@sub.example.co.uk.", 2),
        ("Image ghcr.io/org/app:v1.2.3@sha256:ab12. Pull registry.k8s.io/kube-apiserver:v1.31.0 now", 2),
        ("At 2026-03-01T10:00:00.123Z. Until 2026-03-01T10:00:00.5+02:00", 2),
        ("Listens on [2001:db8::1]:8080 and ::1. Done", 2),
        ("Subnet 10.0.0.0/8. Gateway fe80::1%eth0.", 2),
        ("Is https://example.com/a?b=c.d&e=F! here? See https://x.org/?q=Why", 3),
        ("(see https://en.wikipedia.org/wiki/Foo_(bar).)", 1),
        ("Visit https://example.com, then https://example.org; then rest.", 1),
        ("Calls os.path.join, fmt.Println and self.Run from System.Text.Json in `order.Total` here", 1),
        ("Calls user.Save() and items[0].Name before logger.Info(\"x\") runs", 1),
        ("We use System.Text for JSON parsing in all of it", 1),
        ("Deploy to example.com and check foo.bar for errors", 1),
        ("Set spring.datasource.url in application.properties and restart", 1),
        ("The key a.b.c is 1.5e-3 of 2.0 and 1,000.50 EUR.", 1),
        ("Run docker build . in the root folder", 1),
        ("Ranges like 1..10 or a...b are inclusive", 1),
        ("Ignore *.tmp and **/*.log. Keep .env.", 2),
        ("x = y ? a.b : c.d", 1),
        ("Released in 2024. Used since.", 2),
        ("Error 0x80070005. Access denied.", 2),
        ("SELECT a.b FROM c.d WHERE e = 'f.g'.", 1),
        ("MAC 00:1A:2B:3C:4D:5E. Port 443.", 2),
        ("uuid 550e8400-e29b-41d4-a716-446655440000. Next.", 2),
        ("Paths \\\\server\\share\\x.y. Then D:\\z.", 2),
        ("Query $.store.book[0].title. It returns one.", 2),
        ("Import it from pkg. and nowhere else", 1),
        ("Lives in pkg. It has no tests.", 2),
        ("pkg.", 1),
        ("The name db.internal.example.com. resolves to 10.0.0.1", 1),
        ("Zone example.com. is delegated. It has two servers.", 2),
        ("example.com. IN NS ns1.example.net.", 1),
        ("Hosted at example.com. Served by nginx.", 2),
        ("Adds order.Total to the sum of it", 1),
        ("Reads the cart.Items and its order.Total before it saves", 1),
    ]);
}

#[test]
fn the_mark_of_a_macro_ends_no_sentence() {
    check(&[
        ("Use println! in the cli crate only. It is slow.", 2),
        ("Use plain assert_eq! with expect-test for new tests", 1),
        ("use vec! instead of Vec::from and std::format! instead of +", 1),
        ("Never use println!(\"…\") in the server, and vec![a, b] nowhere.", 1),
        ("No vec! Use an array.", 2),
        ("It broke again! we are sorry", 2),
        ("Is it a != b? yes", 2),
    ]);
}

#[test]
fn abbreviations_and_initials_end_no_sentence_unless_the_next_word_says_so() {
    check(&[
        ("Mr. and Mrs. Jones met Prof. J. R. R. Tolkien, Jr. at St. Mary's.", 1),
        ("We moved to the U.S. The office is large.", 2),
        ("The U.S. Army came at 5 p.m. sharp.", 1),
        ("It opens at 9 a.m. It closes at 5 p.m. on Fridays.", 2),
        ("Buy apples, pears, etc. Then pay.", 2),
        ("Buy apples, etc. and pay.", 1),
        ("At least 12 chars, 1 digit, etc. Rotates every 90 days. Er kostet 5 Mio. Euro usw. und mehr.", 3),
        ("The answer is (a). Not (b). Nor (c).", 3),
        ("Acme Inc. and Foo Ltd. merged. However, Bar Corp. did not.", 2),
        ("See Fig. 3 and No. 5, pp. 3 to 9, e.g. the Beatles, i.e. The Beatles.", 1),
        ("No. It fails.", 2),
        ("Tab. 2 lists errors.", 1),
        ("Open a new tab. The page loads.", 2),
        ("Slack: #team-a. Pager: 555-0100.", 2),
        ("Uses plan-b. Failed twice.", 2),
        ("He said no. It fails.", 2),
        ("Plan B. Then plan C. However it goes.", 3),
        ("On Jan. 5 he left. In the sun. On a Sat. in Dec. he came back.", 3),
        ("Needs approx. 5 min. to run. Max. 10 users.", 2),
        ("She holds a Ph.D. in maths and an M.Sc. from Kyiv.", 1),
        ("Offices (incl. U.K. and E.U.) closed. \"E.g.\" stayed.", 2),
        ("Das gilt z.B. für Dr. Müller, d.h. bzw. ggf. auch für die Fa. Meier usw. bis Nr. 5.", 1),
        ("Das gilt z. B. für i. d. R. alle. Mehr nicht.", 2),
        ("Am 3. Oktober war der 2. Platz frei. Im 19. Jahrhundert nicht.", 2),
        ("Vom 1. und 2. Mai bis zum 3. sonntags.", 1),
        ("Prof. Dr.-Ing. Schmidt kommt. Er bleibt.", 2),
        ("M. Dupont et Mme. Curie, c.-à-d. env. 3 pers, av. J.-C. p. ex. ici.", 1),
        ("Il habite à Paris (cf. p. 12). Elle non.", 2),
        ("EE.UU. y la UE firmaron. El Sr. Pérez no.", 2),
        ("Kowalski et al. wrote it. A. Turing and B. Russell vs. K. Gödel.", 2),
    ]);
}

#[test]
fn stops_come_in_runs_with_quotes_and_brackets_after_them() {
    check(&[
        ("Really?! Yes!!! No...", 3),
        ("Wait... what? Well... Then go.", 3),
        ("Wait… what? Well… Then go.", 3),
        ("He said \"stop.\" Then left.", 2),
        ("He said \"stop.\" and left.", 1),
        ("He asked “why?” and left. Ann (of HR!) stayed.", 2),
        ("It works (mostly.) Sometimes not (rarely).", 2),
        ("**Done.** *Next one.* `Last.`", 3),
        ("Vraiment ? Oui ! « Non. » Bon.", 4),
        ("¿Qué? ¡No! Vale.", 3),
        ("Fast, e.g., here; slow etc., there: all.", 1),
        ("你好！吃了吗？吃了。", 3),
        ("彼は「はい。」と言った。そして帰った。", 2),
        ("混ぜる v1.2.0 と example.com を使う。終わり", 2),
        ("क्या है। ठीक है।", 2),
        ("كيف حالك؟ بخير.", 2),
        ("works at google. uses windows. likes tea. lives in kyiv.", 4),
    ]);
}

#[test]
fn a_missing_space_counts_only_between_two_words_or_more() {
    check(&[
        ("Alice said hi.Bob left early.", 2),
        ("I came.I saw.I conquered.", 3),
        ("Hello world.This is fine. Third one.", 3),
        ("Hello World.This is Fine", 2),
        ("Stop.Now", 1),
        ("word.Then three more words", 1),
        ("three more words.Then", 1),
        ("three more words.Then.", 1),
        ("Is it so?Yes it is!Good for you.", 3),
        ("He said \"it works.\"Then he left.", 2),
        ("Upgrade to version 2.Then restart it.", 2),
        ("one two.three four", 1),
        ("We asked Bob.Ann knows it too.", 2),
        ("Uses System.Ann for it", 1),
        ("Reads obj._Private and a.Long from it", 1),
    ]);
}

#[test]
fn lists_and_paragraphs_part_sentences() {
    check(&[
        ("1. Foo 2. Bar", 2),
        ("1. foo 2. bar 3. baz 4. qux", 4),
        ("1. Foo.\n2. Bar.\n3. Baz.", 3),
        ("Steps: 1. Foo 2. Bar", 2),
        ("Steps:\n- foo\n- bar", 2),
        ("- foo\n- bar\n* baz", 3),
        ("1) foo\n2) bar", 2),
        ("A line that is\nwrapped. Another\r\none.", 2),
        ("A heading\n\nA paragraph", 2),
        ("A heading:\r\n\r\nA paragraph", 1),
        ("What is the answer? 42. That is it.", 3),
        ("See section 2. Bar is there.", 2),
    ]);
}

#[test]
fn sentences_are_the_text_itself() {
    let text = "  Server v2.1.0 runs.  It is up!\n\n(Really.) 🎉 ";
    assert_eq!(sentences(text).collect::<Vec<_>>(), ["Server v2.1.0 runs.", "It is up!", "(Really.) 🎉"]);
    assert_eq!(sentences("一。二！").collect::<Vec<_>>(), ["一。", "二！"]);
    assert_eq!(
        sentences("First one here.Second one here").collect::<Vec<_>>(),
        ["First one here.", "Second one here"]
    );
    assert_eq!(sentences("1. Foo 2. Bar").collect::<Vec<_>>(), ["1. Foo", "2. Bar"]);
}

#[test]
fn a_megabyte_of_anything_is_scanned_in_one_pass() {
    const MEGABYTE: usize = 1 << 20;
    let started = std::time::Instant::now();
    for (unit, count) in
        [(".", 0), ("a", 1), ("a.", 1), ("\n", 0), ("\u{301}", 1), ("🎉", 1), ("?!", 0), ("\"", 1)]
    {
        assert_eq!(count_sentences(&unit.repeat(MEGABYTE / unit.len())), count, "{unit:?}");
    }
    let times = 20_000;
    for (unit, count) in [
        (". ", 0),
        ("a.b ", 1),
        ("x.Yes ", 1),
        ("I go. ", times),
        ("一。", times),
        ("We went.Then we ", times + 1),
    ] {
        assert_eq!(count_sentences(&unit.repeat(times)), count, "{unit:?}");
    }
    // A few seconds, unoptimised; a second look at each character for each character would take hours.
    assert!(started.elapsed().as_secs() < 120, "{:?}", started.elapsed());
}

#[test]
fn tables_hold_no_entry_twice() {
    let mut entries: Vec<&str> =
        tables::ABBREVIATIONS.iter().flat_map(|(_, words)| *words).copied().collect();
    let count = entries.len();
    entries.sort_unstable();
    entries.dedup();
    assert_eq!(entries.len(), count);
}

const TOKENS: &[&str] = &[
    "https://example.com/a.b?c=d!e#f",
    "foo.bar@example.co.uk",
    "192.168.1.1:8080",
    "2001:db8::1",
    "v2.1.0-rc.1",
    "3.14",
    "C:\\Users\\ann\\notes.txt",
    "/etc/app.d/main.conf",
    "~/.ssh/config",
    "config.yaml",
    "System.Text.Json",
    "java.util.List",
    "os.path.join",
    "Node.js",
    "ASP.NET",
    "ni-internal-dev.servicebus.windows.net",
    "Server=tcp:x.database.windows.net,1433;Database=y;",
    "postgres://user:pw@host:5432/db?sslmode=require",
    "registry.k8s.io/pause:3.9",
    "2026-03-01T10:00:00.123Z",
    "1.5e-3",
    "*.tmp",
];

fn plain_sentence() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-z]{1,6}ing", 1..12).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_parted_without_loss(text in prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9 .!?…,:()\"'\\n\\t。「」-]{0,80}",
        prop::collection::vec(prop_oneof![Just(". "), Just("a"), Just("Dr."), Just("\n"), Just(" "), Just("1."),
            Just("x.Then y "), Just("。"), Just("The"), Just("🎉"), Just("\"")], 0..60).prop_map(|v| v.concat()),
    ]) {
        let parts: Vec<&str> = sentences(&text).collect();
        prop_assert!(parts.iter().all(|part| !part.is_empty() && part.trim() == *part));
        let squash = |text: &str| text.split_whitespace().collect::<String>();
        if parts.is_empty() {
            prop_assert!(!text.contains(char::is_alphanumeric));
        } else {
            prop_assert_eq!(squash(&parts.concat()), squash(&text));
        }
    }

    #[test]
    fn text_without_a_stop_or_a_line_end_is_at_most_one(text in any::<String>()) {
        let text: String = text
            .chars()
            .filter(|c| !is_stop(class(*c)) && line_ends(*c) == 0)
            .collect();
        prop_assert!(count_sentences(&text) <= 1);
    }

    #[test]
    fn a_technical_token_adds_no_sentence(
        before in prop::collection::vec(plain_sentence(), 0..4),
        last in plain_sentence(),
        after in plain_sentence(),
        token in prop::sample::select(TOKENS),
    ) {
        let head: String = before.iter().map(|sentence| format!("It {sentence}. ")).collect();
        let plain = format!("{head}So {last}");
        let count = before.len() + 1;
        prop_assert_eq!(count_sentences(&plain), count);
        prop_assert_eq!(count_sentences(&format!("{plain} {token}")), count);
        prop_assert_eq!(count_sentences(&format!("{plain} {token}.")), count);
        prop_assert_eq!(count_sentences(&format!("{plain} ({token}) {after}.")), count);
        prop_assert_eq!(count_sentences(&format!("{token} {after}")), 1);
        prop_assert_eq!(count_sentences(&format!("{plain} {token}. So it is.")), count + 1);
    }
}
