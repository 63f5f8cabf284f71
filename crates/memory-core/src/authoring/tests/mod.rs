mod observations;
mod relations;

use proptest::prelude::*;

use super::*;

fn draft(name: &str, kind: &str, observations: &[&str], relations: &[(&str, &str)]) -> EntityDraft {
    EntityDraft {
        name: name.into(),
        entity_type: kind.into(),
        observations: observations.iter().map(|text| (*text).to_owned()).collect(),
        relations: relations.iter().map(|(target, kind)| relation(target, kind)).collect(),
        ..EntityDraft::default()
    }
}

fn relation(target: &str, kind: &str) -> RelationDraft {
    RelationDraft { target: target.into(), relation_type: kind.into(), ..RelationDraft::default() }
}

fn known(entities: &[(&str, &str, bool)]) -> ThreadNames {
    ThreadNames::new(entities.iter().map(|(name, kind, has_relation)| {
        let entity = KnownEntity { entity_type: (*kind).into(), has_relation: *has_relation, is_root: false };
        ((*name).to_owned(), entity)
    }))
}

fn checked(drafts: &[EntityDraft]) -> Checked {
    check(drafts, &ThreadNames::default(), &AuthoringLimits::default())
}

fn portfolio() -> Vec<EntityDraft> {
    vec![
        EntityDraft {
            importance: Some(1.0),
            ..draft(
                "Alice",
                "Person",
                &["Works at Google", "Author of MCP Memory Server", "Uses Windows"],
                &[("Python Scripts", "created"), ("Portfolio", "updates for")],
            )
        },
        draft(
            "Python Scripts",
            "CodeArtifact",
            &["update_portfolio.py is main script", "Uses python-docx 1.2.0", "Uses lxml 6.0.2"],
            &[("Alice", "created by"), ("Portfolio", "modifies")],
        ),
        draft(
            "Portfolio",
            "Document",
            &[
                "Final file: portfolio-anna-maria-kovalenko-v4.docx",
                "Contains 2 main tables",
                "Total 21 records",
            ],
            &[("Python Scripts", "modified by"), ("Alice", "updated by")],
        ),
    ]
}

#[test]
fn a_sound_request_is_stored_as_sent_with_defaults() {
    let found = checked(&portfolio());
    assert!(found.is_valid(), "{found:?}");
    assert_eq!(found.warnings(), Vec::<String>::new());
    assert!((found.quality_score - 1.0).abs() < 1e-9);
    let [alice, scripts, _] = found.authored.as_slice() else { panic!("{found:?}") };
    assert_eq!((alice.name.as_str(), alice.entity_type.as_str(), alice.index), ("Alice", "Person", 0));
    assert_eq!(alice.observations.len(), 3);
    let updates = AuthoredRelation {
        target: "Portfolio".into(),
        relation_type: "updates for".into(),
        importance: DEFAULT_RELATION_IMPORTANCE,
        importance_given: false,
    };
    assert_eq!(alice.relations[1], updates);
    assert!(alice.is_new && alice.importance_given && !alice.confidence_given && !scripts.importance_given);
    let numbers = [alice.importance, alice.confidence, scripts.importance];
    assert_eq!(numbers.map(f64::to_bits), [1.0, DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE].map(f64::to_bits));
}

#[test]
fn all_problems_of_all_entities_come_back_at_once() {
    let found = checked(&[
        draft("Valid1", "Thing", &["Good fact"], &[("Valid2", "uses")]),
        draft("Invalid", "", &["", "Fine here"], &[]),
        draft("Valid2", "Thing", &["Also good"], &[("Valid1", "used by")]),
    ]);
    assert!(!found.is_valid());
    assert_eq!(found.authored, []);
    assert!(found.entities[0].is_valid() && found.entities[2].is_valid());
    let invalid = &found.entities[1];
    assert_eq!((invalid.index, invalid.name.as_str(), invalid.entity_type.as_str()), (1, "Invalid", ""));
    assert_eq!(
        invalid.errors,
        [
            "Entity 'Invalid' has no entityType. Use Person, Document, File, Code, Task, Service, Database or \
             Configuration, or any other word that says what it is.",
            "Observation 0: Cannot be empty. Write one fact as a short sentence, or leave it out.",
            "Entity 'Invalid' must have at least 1 relation. Add one that shows how it is connected, for example \
             { targetEntity: 'Valid1', relationType: 'belongs to' }. Set isRoot: true only if it is meant to stand \
             alone.",
        ]
    );
    assert_eq!(invalid.observation_issues.len(), 1);
    assert_eq!(invalid.observation_issues[0].observation, "");
}

#[test]
fn a_number_outside_0_to_1_is_refused_with_the_right_one() {
    let wrong = EntityDraft {
        confidence: Some(85.0),
        importance: Some(f64::NAN),
        relations: vec![RelationDraft { importance: Some(-0.1), ..relation("A", "is") }],
        ..draft("A", "Thing", &["Some fact"], &[])
    };
    assert_eq!(
        checked(&[wrong]).entities[0].errors,
        [
            "confidence 85 is not between 0 and 1. Use a number from 0 to 1; for 85 percent write 0.85.",
            "importance NaN is not between 0 and 1. Use a number from 0 to 1, for example 0.8.",
            "Relation 0 ('is' to 'A'): importance -0.1 is not between 0 and 1. Use a number from 0 to 1, for example \
             0.8.",
        ]
    );
    let bounds = EntityDraft {
        confidence: Some(0.0),
        importance: Some(1.0),
        ..draft("A", "Thing", &["Some fact"], &[("A", "is")])
    };
    assert!(checked(&[bounds]).is_valid());
}

#[test]
fn types_are_capitalised_and_camel_case_is_suggested() {
    let typed = |kind| {
        let found = checked(&[EntityDraft { is_root: true, ..draft("A", kind, &["Some fact"], &[]) }]);
        (found.authored[0].entity_type.clone(), found.entities[0].warnings.clone())
    };
    let lower = "Type 'person' is taken as 'Person': types start with a capital letter.".to_owned();
    assert_eq!(typed("person"), ("Person".into(), vec![lower]));
    let spaced = "Type 'API Key' contains spaces. Use 'ApiKey' instead.".to_owned();
    assert_eq!(typed("API Key"), ("API Key".into(), vec![spaced]));
    assert!(typed("GitHub repo").1[0].contains("'GitHubRepo'"));
    assert_eq!(typed(" Éclair "), ("Éclair".into(), vec![]));
    assert_eq!(typed("人物"), ("人物".into(), vec![]));
}

#[test]
fn a_type_that_is_a_slip_away_from_a_common_one_gets_a_suggestion() {
    let warned = |kind| {
        let found = checked(&[EntityDraft { is_root: true, ..draft("A", kind, &["Some fact"], &[]) }]);
        found.entities[0].warnings.join(" ")
    };
    assert_eq!(warned("Persn"), "Type 'Persn' looks like 'Person'. Use that if it is what you mean.");
    for (slip, meant) in [("Taks", "Task"), ("Servce", "Service"), ("Confguraton", "Configuration")] {
        assert!(warned(slip).contains(&format!("'{meant}'")), "{slip}");
    }
    for kind in ["Person", "Node", "Role", "Mask", "Event", "Project", "人物"] {
        assert_eq!(warned(kind), "", "{kind}");
    }
}

#[test]
fn a_name_is_said_to_be_taken_without_the_spaces_at_its_ends() {
    let found = checked(&[EntityDraft { is_root: true, ..draft(" A ", "Thing", &["Some fact"], &[]) }]);
    assert_eq!(found.authored[0].name, "A");
    assert_eq!(
        found.entities[0].warnings,
        ["Name ' A ' is taken as 'A': spaces at the ends of a name are left out."]
    );
}

#[test]
fn names_that_look_the_same_but_are_encoded_in_two_ways_are_warned_of() {
    let (composed, decomposed) = ("Caf\u{e9}", "Cafe\u{301}");
    let thread = known(&[(composed, "Place", true)]);
    let drafts = [draft(decomposed, "Place", &["Some fact"], &[(composed, "is")])];
    let limits = AuthoringLimits::default();
    assert_eq!(lookups(&drafts, &limits), [decomposed, composed]);
    let found = check(&drafts, &thread, &limits);
    assert!(found.is_valid() && found.authored[0].is_new);
    assert!(
        found.warnings()[0].contains("differs only in how its accents are encoded from"),
        "{:?}",
        found.warnings()
    );
}

#[test]
fn what_could_not_be_read_is_said_and_not_also_asked_for() {
    let unread = EntityDraft {
        faults: vec!["observations: 5 is a number.".into()],
        confidence: Some(2.0),
        relations: vec![RelationDraft { is_unread: true, ..RelationDraft::default() }, relation("X", "is")],
        ..draft("A", "", &[], &[])
    };
    let errors = checked(&[unread]).entities.remove(0).errors;
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert_eq!(errors[0], "observations: 5 is a number.");
    assert_eq!(errors[1], "confidence 2 is not between 0 and 1. Use a number from 0 to 1, for example 0.8.");
    assert!(errors[2].starts_with("Relation 1 ('is' to 'X'): Target 'X' not found"));
}

#[test]
fn a_root_of_the_thread_is_not_said_to_lack_relations() {
    let root = KnownEntity { entity_type: "Thing".into(), has_relation: false, is_root: true };
    let thread = ThreadNames::new([("A".to_owned(), root)]);
    let found = check(&[draft("A", "Thing", &["Some fact"], &[])], &thread, &AuthoringLimits::default());
    assert!(found.is_valid() && found.warnings().is_empty(), "{:?}", found.warnings());
}

#[test]
fn an_entity_of_the_thread_keeps_its_type() {
    let thread = known(&[("Alice", "person", true)]);
    let limits = AuthoringLimits::default();
    let found = check(&[draft("Alice", "Person", &["Some fact"], &[])], &thread, &limits);
    assert_eq!((found.authored[0].entity_type.as_str(), found.warnings()), ("person", vec![]));
    let found = check(&[draft("Alice", "Service", &["Some fact"], &[])], &thread, &limits);
    assert_eq!(found.authored[0].entity_type, "person");
    assert!(
        found.warnings()[0].contains("is in the thread as 'person' and keeps that type instead of 'Service'")
    );
    let found = check(&[draft("Alice", "", &["Some fact"], &[])], &thread, &limits);
    assert_eq!(
        found.entities[0].errors,
        ["Entity 'Alice' has no entityType. The thread has it as 'person'."]
    );
    let found = check(&[draft("alice", "Person", &["Some fact"], &[("Alice", "is")])], &thread, &limits);
    assert!(found.is_valid() && found.warnings()[0].contains("differs only in case from 'Alice'"));
}

#[test]
fn drafts_of_one_name_are_merged_or_refused_by_their_types() {
    let found = checked(&[
        draft("A", "thing", &["First fact"], &[("B", "uses")]),
        draft("B", "Thing", &["Other fact"], &[("A", "used by")]),
        EntityDraft { importance: Some(0.9), ..draft("A", "Thing", &["First fact", "Second fact"], &[]) },
    ]);
    assert!(found.is_valid(), "{found:?}");
    assert_eq!(
        found.entities[2].warnings,
        ["Entity 'A' is sent twice: this one is added to the one at index 0."]
    );
    assert_eq!(found.authored.len(), 2);
    let merged = &found.authored[0];
    assert_eq!(merged.observations, ["First fact", "Second fact"]);
    assert_eq!((merged.relations.len(), merged.importance_given), (1, true));
    let found = checked(&[
        draft("A", "Person", &["First fact"], &[("A", "is")]),
        draft("A", "Service", &["Second fact"], &[("A", "is")]),
    ]);
    assert!(found.entities[0].is_valid());
    assert_eq!(
        found.entities[1].errors,
        [
            "Entity 'A' is sent twice with different types: 'Person' at index 0 and 'Service' at index 1. Give both the \
          same type to merge them, or name one differently, for example 'A (Service)'."
        ]
    );
}

#[test]
fn names_types_and_counts_have_limits() {
    let long = checked(&[EntityDraft {
        is_root: true,
        ..draft(&"n".repeat(101), &"t".repeat(51), &["Some fact"], &[])
    }]);
    let errors = &long.entities[0].errors;
    assert!(
        errors[0].starts_with("Name \"nnn")
            && errors[0].contains("is too long: 101 characters, at most 100.")
    );
    assert!(
        errors[1].starts_with("Type \"ttt") && errors[1].contains("is too long: 51 characters, at most 50.")
    );
    let longest =
        EntityDraft { is_root: true, ..draft(&"é".repeat(100), &"É".repeat(50), &["Some fact"], &[]) };
    assert!(checked(&[longest]).is_valid());
    let unnamed = checked(&[draft(" ", "Thing", &["Some fact"], &[]), draft("", "Thing", &[], &[])]);
    assert!(
        unnamed.entities[0].errors[0].starts_with("Entity 0 has no name. Give it one of 1 to 100 characters")
    );
    assert!(unnamed.entities[1].errors[1].starts_with("Entity 1 has no observations. Add at least 1"));

    let many = vec![String::from("A fact"); 201];
    let found =
        checked(&[EntityDraft { observations: many, is_root: true, ..draft("A", "Thing", &[], &[]) }]);
    assert!(found.entities[0].errors[0].starts_with("Entity 'A' has 201 observations, at most 200."));
    assert_eq!(found.entities[0].warnings.len(), MAX_MESSAGES_PER_ENTITY + 1);
    assert_eq!(found.entities[0].warnings[MAX_MESSAGES_PER_ENTITY], "149 more warnings are not shown.");
    let found = checked(&[draft("A", "Thing", &["Some fact"], &[("A", "is"); 201])]);
    assert!(found.entities[0].errors[0].starts_with("Entity 'A' has 201 relations, at most 200."));

    let none = checked(&[]);
    assert!(!none.is_valid() && none.errors[0].starts_with("The request has no entities."));
    let crowd = checked(&vec![EntityDraft::default(); 1001]);
    assert_eq!(crowd.errors, ["The request has 1001 entities, at most 1000. Send them in 2 calls."]);
    assert!(!crowd.is_valid() && crowd.entities.is_empty());
}

#[test]
fn nul_is_refused_wherever_it_stands() {
    let found = checked(&[draft("A\0", "T\0", &["Some\0fact"], &[("B\0", "i\0s")])]);
    let errors = &found.entities[0].errors;
    assert_eq!(errors.len(), 5, "{errors:?}");
    assert!(
        errors
            .iter()
            .all(|error| error.contains("ontains a NUL character (U+0000)") && !error.contains('\0'))
    );
    assert_eq!(found.entities[0].observation_issues[0].observation, "Some␀fact");
}

#[test]
fn lookups_are_the_names_that_the_thread_must_be_asked_for() {
    let drafts = [
        draft(" B ", "Thing", &[], &[("A", "is"), ("B", "is"), ("", "is"), ("N\0", "is")]),
        draft("", "Thing", &[], &[("C", "is")]),
    ];
    assert_eq!(lookups(&drafts, &AuthoringLimits::default()), ["A", "B", "C"]);
    let limits = AuthoringLimits { entities: 1, relations: 1, ..Default::default() };
    assert_eq!(lookups(&drafts, &limits), ["A", "B"]);
}

#[test]
fn quality_is_connection_and_freedom_from_warnings() {
    let quality = |drafts: &[EntityDraft]| (checked(drafts).quality_score * 1000.0).round() as u32;
    let clean = draft("A", "Thing", &["Some fact"], &[("B", "uses")]);
    let short = draft("B", "Thing", &["Good"], &[("A", "uses"), ("A", "has"), ("A", "is"), ("A", "is")]);
    assert_eq!(quality(&[clean.clone(), short]), 850);
    assert_eq!(quality(&[EntityDraft { is_root: true, ..draft("A", "Thing", &["Some fact"], &[]) }]), 300);
    assert_eq!(quality(&[draft("A", "Thing", &["Some fact"], &[])]), 0);
    assert_eq!(quality(&[clean, draft("B", "Thing", &["A fact"], &[("A", "by")])]), 650);
    assert_eq!(quality(&[]), 0);
}

#[test]
fn a_hundred_entities_of_a_technical_session_are_stored_without_a_complaint() {
    let name = |n: usize| format!("svc-{n}.prod.example.com");
    let drafts: Vec<EntityDraft> = (0..100)
        .map(|n| {
            let facts = [
                format!("Listens on 10.0.{n}.1:8443 behind https://lb-{n}.example.com/api/v1.2?x=y"),
                format!("Config is /etc/svc/{n}.d/app.conf. Image is ghcr.io/org/svc:v1.{n}.0."),
                format!("Db: Server=tcp:x{n}.database.windows.net,1433;Database=y;Encrypt=True;"),
            ];
            let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
            draft(&name(n), "Service", &facts, &[(&name((n + 1) % 100), "calls")])
        })
        .collect();
    let found = checked(&drafts);
    assert!(found.is_valid() && found.warnings().is_empty(), "{:?}", found.warnings());
}

#[test]
fn a_large_request_that_is_all_wrong_is_answered_soon() {
    let relations: Vec<RelationDraft> = (0..200).map(|n| relation(&format!("missing {n}"), "is")).collect();
    let drafts: Vec<EntityDraft> = (0..300)
        .map(|n| EntityDraft { relations: relations.clone(), ..draft(&format!("E{n}"), "Thing", &[""], &[]) })
        .collect();
    let found = checked(&drafts);
    assert!(found.entities.iter().all(|check| check.errors.len() == MAX_MESSAGES_PER_ENTITY + 1));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_valid_keeps_the_rules(drafts in prop::collection::vec(
        (
            prop_oneof![Just("A".to_owned()), Just("B".to_owned()), "[ab]{0,3}", any::<String>()],
            prop_oneof![Just("Thing".to_owned()), any::<String>()],
            prop::collection::vec(prop_oneof![Just("A fact.".to_owned()), any::<String>()], 0..3),
            prop::collection::vec((prop_oneof![Just("A".to_owned()), any::<String>()], any::<f64>()), 0..3),
            any::<bool>(),
        )
            .prop_map(|(name, entity_type, observations, relations, is_root)| EntityDraft {
                name,
                entity_type,
                observations,
                relations: relations
                    .into_iter()
                    .map(|(target, importance)| RelationDraft {
                        importance: (importance > 0.5).then_some(importance),
                        ..relation(&target, "is")
                    })
                    .collect(),
                is_root,
                ..EntityDraft::default()
            }),
        0..5,
    )) {
        let limits = AuthoringLimits::default();
        let found = checked(&drafts);
        prop_assert!((0.0..=1.0).contains(&found.quality_score));
        prop_assert_eq!(found.is_valid(), !found.authored.is_empty());
        for entity in &found.authored {
            prop_assert!((1..=limits.name_chars).contains(&entity.name.chars().count()));
            prop_assert!(!entity.observations.is_empty() && (entity.is_root || !entity.relations.is_empty()));
            for relation in &entity.relations {
                prop_assert!(found.authored.iter().any(|other| other.name == relation.target));
            }
        }
    }
}
