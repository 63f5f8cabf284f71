use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn score(a: &str, b: &str) -> Option<f64> {
    score_of_types(a, b, "Thing", "Thing")
}

fn score_of_types(a: &str, b: &str, a_type: &str, b_type: &str) -> Option<f64> {
    let found = similar_names(&[(a, a_type), (b, b_type)], 10);
    assert!(found.len() <= 1);
    found.first().map(|candidate| candidate.score)
}

fn people(names: &[&str]) -> Vec<(String, String)> {
    similar_names(&names.iter().map(|name| (*name, "Person")).collect::<Vec<_>>(), 100)
        .into_iter()
        .map(|candidate| (candidate.a, candidate.b))
        .collect()
}

#[test]
fn spellings_of_one_name_are_alike() {
    for (a, b) in [
        ("Jon Smith", "John Smith"),
        ("José", "Jose"),
        ("Łódź Service", "lodz-service"),
        ("Jose\u{301} Muñoz", "José Munoz"),
        ("PostgreSQL", "Postgres"),
        ("user-service", "UserService"),
        ("User Service", "user_service"),
        ("UserServices", "user service"),
        ("Acme", "ACME Inc."),
        ("Foo & Co. KG", "Foo"),
        ("Müller GmbH", "Müller"),
        ("The Portfolio", "Portfolio"),
        ("Smith, John", "John Smith"),
        ("Kubernetes", "Kubernets"),
        ("Elastic Search", "Elasticsearch"),
        ("Elasticsearch", "Elasitcsaerch"),
        ("Nginx", "Ngnix"),
        ("Redis", "Reddis"),
        ("MongoDB", "Mongo"),
        ("Node.js", "Node"),
        ("Node.js", "nodejs"),
        ("libraries", "Library"),
        ("Phase II", "phase 2"),
        ("Release 007", "release-7"),
        ("Model Context Protocol", "MCP"),
        ("東京タワー", "東京 タワー"),
        ("O'Brien", "OBrien"),
        ("HTTPServer", "http-server"),
    ] {
        assert!(score(a, b).is_some_and(|score| score >= 0.7), "{a} / {b}: {:?}", score(a, b));
    }
}

#[test]
fn different_things_with_like_names_are_not() {
    for (a, b) in [
        ("Bob", "Rob"),
        ("v1", "v2"),
        ("v1.0", "v10"),
        ("Server 1", "Server 2"),
        ("Server 1", "Server 11"),
        ("Server", "Server 2"),
        ("server-eu-1", "server-us-1"),
        ("ServiceA", "ServiceB"),
        ("servicea", "serviceb"),
        ("Plan A", "Plan B"),
        ("Phase II", "Phase III"),
        ("C++", "C#"),
        ("C", "C++"),
        ("Mario", "Maria"),
        ("Frontend", "Backend"),
        ("prod-db", "dev-db"),
        ("import", "export"),
        ("Importer", "Import"),
        ("Java", "JavaScript"),
        ("Payment", "Payment API"),
        ("React", "React Native"),
        ("internal", "external"),
        ("encryption", "decryption"),
        ("Tim Smith", "Tom Smith"),
        ("2024-01-02", "2024-02-01"),
        ("Https", "Http"),
        ("🎉", "🚀"),
        ("北京市", "南京市"),
        ("", "a"),
        ("+++", "---"),
    ] {
        assert_eq!(score(a, b), None, "{a} / {b}");
    }
}

#[test]
fn people_go_by_initials_and_first_names() {
    assert_eq!(people(&["J. Smith", "John Smith"]), [("J. Smith".into(), "John Smith".into())]);
    assert_eq!(people(&["John A. Smith", "John Smith"]), [("John A. Smith".into(), "John Smith".into())]);
    assert_eq!(people(&["Alice", "Alice Chen"]), [("Alice".into(), "Alice Chen".into())]);
    assert_eq!(people(&["Alice", "Alice Chen", "Alice Cooper"]), []);
    assert_eq!(people(&["John A. Smith", "John B. Smith"]), []);
    assert_eq!(people(&["J. Smith", "Mary Smith"]), []);
    assert_eq!(score("Alice", "Alice Chen"), None);
}

#[test]
fn another_type_lowers_the_score_and_is_named() {
    let same = score_of_types("user-service", "UserService", "Service", "service").unwrap();
    let unknown = score_of_types("user-service", "UserService", "Service", "").unwrap();
    let other = score_of_types("user-service", "UserService", "Service", "Person").unwrap();
    assert!(same > unknown && unknown > other, "{same} {unknown} {other}");
    let found = similar_names(&[("user-service", "Service"), ("UserService", "Person")], 1);
    assert_eq!(found[0].reason, "the same but for case, spaces and separators; their types differ");
}

#[test]
fn the_best_come_first_whatever_the_order_of_the_names() {
    let mut names = vec![
        ("jon smith", ""),
        ("John Smith", ""),
        ("john smith", ""),
        ("PostgreSQL", ""),
        ("Postgres", ""),
        ("unlike", ""),
    ];
    let found = similar_names(&names, 100);
    assert_eq!((found[0].a.as_str(), found[0].b.as_str()), ("John Smith", "john smith"));
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert!(found.iter().all(|c| c.a < c.b && (MIN_SCORE..=1.0).contains(&c.score)));
    names.reverse();
    assert_eq!(similar_names(&names, 100), found);
    assert_eq!(similar_names(&names, 2), found[..2]);
    assert_eq!(similar_names(&names, 0), []);
    assert_eq!(similar_names::<&str, &str>(&[], 5), []);
}

#[test]
fn the_names_compared_grow_with_the_names_and_not_their_square() {
    let count = 5_000;
    let kinds: [fn(usize) -> String; 5] = [
        |n| format!("Server {n}"),
        |n| format!("service-{}-{}", letters(n), letters(n / 7)),
        |n| letters(n * 7919),
        |n| format!("J. {}", letters(n % 50)),
        |n| format!("{}smith", " ".repeat(n % 300)) + &"-".repeat(n / 300),
    ];
    for kind in kinds {
        let names: Vec<String> = (0..count).map(kind).collect();
        let unique: HashSet<&String> = names.iter().collect();
        let forms: Vec<Form<'_>> = unique.iter().map(|name| Form::of(name, "Person")).collect();
        let compared = blocks::pairs(&forms).count();
        assert!(compared <= 100 * forms.len(), "{compared} of {}: {}", forms.len(), names[1]);
    }
}

fn letters(mut n: usize) -> String {
    let mut word = String::from("q");
    while n > 0 {
        word.push(char::from(b'a' + (n % 26) as u8));
        n /= 26;
    }
    word
}

#[test]
fn a_name_not_found_brings_up_the_close_ones() {
    let known = ["ServiceA", "Portfolio Document", "user-service", "John Smith", "Zed"];
    assert_eq!(closest_names("ServiceB", known, 3), ["ServiceA"]);
    assert_eq!(closest_names("servicea", known, 3), ["ServiceA"]);
    assert_eq!(closest_names("UserService", known, 3), ["user-service"]);
    assert_eq!(closest_names("Portfolio", known, 3), ["Portfolio Document"]);
    assert_eq!(closest_names("Jon Smith", known, 3), ["John Smith"]);
    assert_eq!(closest_names("NonExistent", known, 3), Vec::<&str>::new());
    assert_eq!(closest_names("", known, 3), Vec::<&str>::new());
    assert_eq!(closest_names("abcd", ["abce", "abcd1", "ABCD", "abxd"], 2), ["ABCD", "abcd1"]);
    assert_eq!(closest_names(&"x".repeat(100_000), known, 3), Vec::<&str>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_names_can_be_compared(names in prop::collection::vec(
        (prop_oneof![any::<String>(), "[a-cA-C1 _.&-]{0,8}"], "(Person|Service|)"), 0..12)
    ) {
        let found = similar_names(&names, 100);
        prop_assert!(found.iter().all(|c| c.a != c.b && c.score >= MIN_SCORE));
        let known = names.iter().map(|(name, _)| name.as_str());
        let name = names.first().map_or("", |(name, _)| name.as_str());
        prop_assert!(closest_names(name, known, 3).len() <= 3);
    }
}
