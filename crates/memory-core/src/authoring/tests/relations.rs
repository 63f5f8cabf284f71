use super::*;

/// The errors and warnings of an entity that is in order but for its relations, beside "Portfolio".
fn relation_messages(relations: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let drafts = [
        draft("Alice", "Person", &["Works at Google"], relations),
        draft("Portfolio", "Document", &["Has 2 tables"], &[("Alice", "updated by")]),
    ];
    let found = checked(&drafts).entities.remove(0);
    (found.errors, found.warnings)
}

#[test]
fn a_new_entity_needs_a_relation_unless_it_is_a_root() {
    let alone = draft("Isolated Entity", "Test", &["Some fact"], &[]);
    let found = checked(std::slice::from_ref(&alone));
    assert_eq!(
        found.entities[0].errors,
        [
            "Entity 'Isolated Entity' must have at least 1 relation. Add the entity that it belongs to and a relation \
          to that, for example { targetEntity: 'Portfolio', relationType: 'updates' }. Set isRoot: true only if it \
          is meant to stand alone."
        ]
    );
    let thread = known(&[("Portfolio of Alice", "Document", true)]);
    let found = check(std::slice::from_ref(&alone), &thread, &AuthoringLimits::default());
    assert!(found.entities[0].errors[0].contains("{ targetEntity: 'Portfolio of Alice', relationType"));
    assert!(checked(&[EntityDraft { is_root: true, ..alone.clone() }]).is_valid());
    let limits = AuthoringLimits::default();
    let found = check(std::slice::from_ref(&alone), &known(&[("Isolated Entity", "Test", true)]), &limits);
    assert!(found.is_valid() && !found.authored[0].is_new && found.warnings().is_empty());
    let found = check(&[alone], &known(&[("Isolated Entity", "Test", false)]), &limits);
    assert!(found.is_valid());
    assert_eq!(
        found.warnings(),
        ["Entity 'Isolated Entity' has no relation in the thread yet. Add one that shows how it \
          is connected."]
    );
}

#[test]
fn a_target_is_in_the_request_or_in_the_thread() {
    let save = |target| [draft("ServiceC", "Service", &["Runs on port 80"], &[(target, "uses")])];
    let limits = AuthoringLimits::default();
    let thread = known(&[("ServiceA", "Service", true)]);
    assert!(check(&save("ServiceA"), &thread, &limits).is_valid());
    let found = check(&save("ServiceB"), &thread, &limits);
    assert_eq!(
        found.entities[0].errors,
        [
            "Relation 0 ('uses' to 'ServiceB'): Target 'ServiceB' not found in this request or in the thread. Did you \
          mean 'ServiceA'? If not, add 'ServiceB' to entities."
        ]
    );
    let found = check(&save("NonExistent"), &thread, &limits);
    assert_eq!(
        found.entities[0].errors,
        [
            "Relation 0 ('uses' to 'NonExistent'): Target 'NonExistent' not found in this request or in the thread. Add \
          'NonExistent' to entities, or relate to one that exists, for example 'ServiceA'."
        ]
    );
    let suggested = known(&[]).with_names(["Payment Gateway".to_owned()]);
    let found = check(&save("payment-gateway"), &suggested, &limits);
    assert!(found.entities[0].errors[0].contains("Did you mean 'Payment Gateway'?"), "{found:?}");
    let found = check(&save("Payment Gateway"), &suggested, &limits);
    assert!(!found.is_valid(), "names to suggest are no targets");
}

#[test]
fn relations_are_judged_one_by_one() {
    let (errors, _) =
        relation_messages(&[("", "uses"), ("Portfolio", " "), ("Portfolio", &"x".repeat(51)), ("", "")]);
    assert_eq!(
        errors,
        [
            "Relation 0 ('uses'): Has no targetEntity. Name an entity of this request or of the thread, for example \
             'Portfolio'.",
            "Relation 1 (to 'Portfolio'): Has no relationType. Say how the two are connected, for example 'uses'.",
            "Relation 2 ('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' to 'Portfolio'): Type \
             \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\" is too long: 51 characters, at most 50. Use a verb or two, \
             for example 'depends on', and put details into an observation.",
            "Relation 3: Has no targetEntity. Name an entity of this request or of the thread, for example \
             'Portfolio'.",
            "Relation 3: Has no relationType. Say how the two are connected, for example 'uses'.",
        ]
    );
    let (errors, warnings) = relation_messages(&[
        ("Alice", "knows"),
        ("Portfolio", "owns"),
        ("Portfolio", "owns"),
        ("Portfolio", "has"),
    ]);
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!(
        warnings,
        [
            "Relation 0 ('knows' to 'Alice'): Its target is the entity itself, so it connects it to nothing else. \
             Add a relation to another entity.",
            "Relation 2 ('owns' to 'Portfolio'): Sent twice; it is stored once.",
        ]
    );
}

#[test]
fn suggested_names_are_whole_so_that_they_can_be_copied() {
    let long = format!("The {}service", "very ".repeat(15));
    let drafts = [draft("A", "Thing", &["Some fact"], &[(&long.to_uppercase(), "uses")])];
    let found = check(&drafts, &known(&[(&long, "Service", true)]), &AuthoringLimits::default());
    let error = &found.entities[0].errors[0];
    assert!(error.contains(&format!("Did you mean '{long}'?")), "{error}");
    assert!(error.chars().count() < 400, "{error}");
}
