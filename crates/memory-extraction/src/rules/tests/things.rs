//! Organisations, places, projects and programs, by their words and by what stands around them.

use memory_core::entity::EntityType;

use super::read;

/// The names of a type that are found in a text.
fn found(text: &str, entity_type: EntityType) -> Vec<String> {
    let entities = read(text).entities.into_iter();
    entities.filter(|entity| entity.entity_type == entity_type).map(|entity| entity.name).collect()
}

#[track_caller]
pub(super) fn claim(entity_type: EntityType, claims: &[(&str, &[&str])]) {
    let wrong = claims.iter().filter_map(|(text, names)| {
        let found = found(text, entity_type);
        (&found != names).then(|| format!("{text}: {found:?}, not {names:?}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn organisations_are_told_by_what_they_do_or_are() {
    claim(
        EntityType::Org,
        &[
            ("We chose Castellan Roofing for the job.", &["Castellan Roofing"]),
            ("Tell Northquay Ferries that it is late.", &["Northquay Ferries"]),
            ("The lease of Café Morgenrot ends in May.", &["Café Morgenrot"]),
            ("He came home from St. Olave Hospital today.", &["St. Olave Hospital"]),
            ("Letter to the Mill Lane Residents' Association", &["Mill Lane Residents' Association"]),
            ("THORNBY PARISH COUNCIL\n\nPresent: Cllr Dhillon", &["THORNBY PARISH COUNCIL"]),
            ("The call with Harrow & Finch Care Homes was long.", &["Harrow & Finch Care Homes"]),
            ("the new health care is good and the glass was clean", &[]),
        ],
    );
}

#[test]
fn organisations_are_told_by_their_part_and_their_people() {
    claim(
        EntityType::Org,
        &[
            ("A claim was filed with our insurer, Pohja, yesterday.", &["Pohja"]),
            ("The cheapest quote from Roofmaster was taken.", &["Roofmaster"]),
            ("In the end Cobaltbank's auditors found our logs.", &["Cobaltbank"]),
            ("We had the review with the Corvane people this morning.", &["Corvane"]),
            ("We ask Ops for a second runner.", &["Ops"]),
            ("All of it is sent to support@brightloop.example, since Brightloop signs it.", &["Brightloop"]),
            ("The security of the finance data is good.", &[]),
        ],
    );
}

#[test]
fn places_are_known_or_stand_where_places_stand() {
    claim(
        EntityType::Place,
        &[
            ("I am in Leeds tomorrow and in New York on Friday.", &["Leeds", "New York"]),
            ("In short, the water committee in Konna, says yes.", &["Konna"]),
            ("The road to Búzi has been cut.", &["Búzi"]),
            ("They renew the Tilmouth depot.", &["Tilmouth"]),
            ("Handover, Ward 7B and Block C", &["Ward 7B", "Block C"]),
            ("Better at Lake Bled and in the Bay of Fundy.", &["Lake Bled", "Bay of Fundy"]),
            ("Jack London and Berlin Partners are none.", &[]),
            ("We keep the edits in Kafka, in May.", &[]),
        ],
    );
}

#[test]
fn projects_are_products_code_names_and_what_is_worked_on() {
    claim(
        EntityType::Project,
        &[
            ("Offline mode was dropped from Orchid 2.0 at last.", &["Orchid"]),
            ("He took over the Larkspur migration.", &["Larkspur"]),
            ("Project: Clean Taps for Mbarika\nBy: the trust", &["Clean Taps for Mbarika"]),
            ("The Salt Road project is late. Salt Road needs a roof.", &["Salt Road"]),
            ("It is codenamed Larkspur, and Larkspur is late.", &["Larkspur"]),
            ("Project Saltmarsh is late, since Saltmarsh has no lead.", &["Saltmarsh"]),
            ("We will be at DjangoCon with MacDonald, PRs and APIs.", &["DjangoCon"]),
            ("Rated 4.8 by users, from 3.2 before.", &[]),
        ],
    );
    claim(
        EntityType::Project,
        &[
            ("We stay on Postgres until January and drop RabbitMQ.", &["Postgres", "RabbitMQ"]),
            ("You excel at this, and there is some slack.", &[]),
        ],
    );
    claim(EntityType::Object, &[("PAY-77 is fixed in v2.3.1.", &["PAY-77", "v2.3.1"])]);
}

#[test]
fn a_title_says_what_the_text_is_about() {
    claim(
        EntityType::Project,
        &[
            ("Retro Zelkit Android, sprint 12\n\nZelkit was late.", &["Zelkit", "Android"]),
            ("# Sprint 31 planning — Orvane\n\nNobody knows when.", &["Orvane"]),
            ("Decision log: Orvane design system\n\nNewest on top.", &["Orvane"]),
            ("Release notes Orvane, June\n\nIt is new.", &["Orvane"]),
            ("What changed in Orvane in June\n\nIt is new.", &["Orvane"]),
            ("PRODUCTION MEETING, \"The Salt Year\", Wednesday\n\nTyped up.", &["The Salt Year"]),
            ("Launch party at the hall\n\nIt is new.", &[]),
            ("Beta readers of the parish letter\n\nIt is new.", &[]),
        ],
    );
}

#[test]
fn programs_are_told_by_what_is_done_with_them() {
    claim(
        EntityType::Project,
        &[
            ("Last week we moved from Jenkins to Zelkit.", &["Jenkins", "Zelkit"]),
            ("We migrated the queue to Zelkit.", &["Zelkit"]),
            ("It runs on a server, and Zelkit went live.", &["Zelkit"]),
            ("The fix is in the `mast-core` crate.", &["mast-core"]),
            ("The code is in `acme/mast-core`.", &["acme/mast-core"]),
            ("Operation Bluebird is late, since Bluebird has no lead.", &["Bluebird"]),
            ("It has the codename Orvane, and Orvane is late.", &["Orvane"]),
            (
                "| Project | Lead |\n|---|---|\n| Search relaunch | Alice |\n| Orvane | Bob |",
                &["Search relaunch", "Orvane"],
            ),
            ("Bob moved from Leeds to York.", &[]),
        ],
    );
}

#[test]
fn firms_and_departments_are_told_by_what_they_take_on() {
    claim(
        EntityType::Org,
        &[
            ("Zelkit is to replace the two pumps by June.", &["Zelkit"]),
            ("It was late. Orvane Zelkit has agreed to wait.", &["Orvane Zelkit"]),
            ("Zelkit are going to lend us the digger.", &["Zelkit"]),
            ("Estates to fix the door by Friday.", &["Estates"]),
            ("Pharmacy is to check the fridge.", &["Pharmacy"]),
            ("The Zelkit is to be painted. Marketing to schools is hard.", &[]),
            (
                "| Action | Owner |\n|---|---|\n| Clear the bay | Facilities |\n| Pay it | Payroll, Alice |\n| Reset it | IT |",
                &["Facilities", "Payroll", "IT"],
            ),
            ("Callum Print and Alice Dairy came.", &[]),
        ],
    );
}

#[test]
fn bodies_that_many_know_are_told_where_they_stand_alone() {
    claim(
        EntityType::Org,
        &[
            ("At Google they said no, and Microsoft pays the bill.", &["Google", "Microsoft"]),
            ("We keep it in Google Drive and build with the Microsoft Visual tools. I google it.", &[]),
            (
                "Present:\n\n* [ ] Ann Lee, Google\n* [x] Bob Cole, Netspool Pictures\n* Dana Ortiz (Weftdesk)\n",
                &["Google", "Netspool Pictures", "Weftdesk"],
            ),
        ],
    );
}

#[test]
fn work_with_a_name_tells_a_project() {
    claim(
        EntityType::Project,
        &[
            ("The figures of the Open Shelves pilot are in.", &["Open Shelves"]),
            ("We begin the Heron rollout in May.", &["Heron"]),
            ("Two people are on it. They worked on Orvane in May.", &["Orvane"]),
            ("She is now tech lead for Orvane.", &["Orvane"]),
            ("It is late, and Orvane slips to May.", &["Orvane"]),
            ("Orvane – weekly sync, 3 May\n\nNobody came.", &["Orvane"]),
            ("Weekly status – Orvane Canteen Extension\n\nNobody came.", &["Orvane Canteen Extension"]),
            ("Orvane (the search rewrite) is late.", &["Orvane"]),
            ("She found the swap bug in Orvane yesterday.", &["Orvane"]),
            ("Tarn Drive 5.11 is out since May.", &["Tarn Drive"]),
            ("Weekly status – Callum Stone\n\nNobody came.", &[]),
            ("Orvane status, week 3\n\nNobody came.", &["Orvane"]),
            ("Orvane call 3\n\nOrvane: two new people", &["Orvane"]),
            ("After the March release the German app and the London pilot came.", &[]),
            ("The Finance app and the Android app are late.", &["Android"]),
            ("Callum call, 3 May\n\nCallum was late.", &[]),
        ],
    );
}

#[test]
fn repositories_are_told_by_the_form_of_their_names() {
    claim(
        EntityType::Project,
        &[
            ("the tide-gate service drops one in fifty", &["tide-gate"]),
            ("it is in the repo shelf-sorter, i think", &["shelf-sorter"]),
            ("we moved to web-shelf 2.4 and pinned orchard-api", &["web-shelf", "orchard-api"]),
            ("fixed in granite-io/pebble, see acme/mast#42", &["granite-io/pebble", "acme/mast"]),
            ("the follow-up service and our self-service app are read/write", &[]),
            ("the long-term tool is in src/shelf-sorter.rs and on-call/off-call", &[]),
        ],
    );
}
