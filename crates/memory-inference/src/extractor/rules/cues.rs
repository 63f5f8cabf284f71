//! Cues: the phrases that say what kind of event a clause tells, who must be its subject, and how sure that is.
//!
//! In a phrase a blank parts the words, `/` the alternatives of one word, and `~` stands for up to eight words.

use std::collections::HashMap;
use std::sync::LazyLock;

use memory_core::event::Category;

use super::words::Text;

/// What must stand before the phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// People, «I», «we» or a team.
    Doer,
    /// Named people or «I».
    Person,
    /// «I» only.
    Me,
    /// «We», a team, «they».
    Collective,
    /// People, a team or those outside: customers, users.
    Voice,
    /// Anything that the phrase happens to: «was deployed».
    Passive,
    /// A thing that is in that state at the end of the clause: «is done».
    State,
    /// A thing that does it by itself: «v2.3 shipped on Monday».
    Thing,
    /// Nobody: the phrase opens an item.
    Nobody,
    /// A doer before and a person or team after.
    Company,
    /// No subject is asked for.
    Free,
}

use Category::{Change, Collaboration, Commitment, Decision, Execution, Feedback, QualityRisk, Stakeholder};
use Who::{Collective, Company, Doer, Free, Me, Nobody, Passive, Person, State, Thing, Voice};

type Row = (&'static str, Category, &'static [(Who, f32)]);

const TABLE: &[Row] = &[
    // What people take upon themselves.
    ("committed to", Commitment, &[(Doer, 0.85)]),
    ("promised/promises to/that", Commitment, &[(Doer, 0.82)]),
    ("agreed/agrees to", Commitment, &[(Person, 0.8)]),
    ("volunteered/volunteers to/for", Commitment, &[(Doer, 0.8)]),
    ("pledged/undertook/vowed to", Commitment, &[(Doer, 0.75)]),
    ("offered to", Commitment, &[(Person, 0.6)]),
    ("plans/plan/intends/intend to", Commitment, &[(Person, 0.56)]),
    ("planning to", Commitment, &[(Person, 0.56)]),
    ("takes/took/taking ~ on/ownership/point/lead", Commitment, &[(Person, 0.66)]),
    ("takes/took/taking care of", Commitment, &[(Person, 0.7)]),
    ("taking the/that/this", Commitment, &[(Person, 0.62)]),
    ("owns the", Commitment, &[(Person, 0.62)]),
    ("on the hook for", Commitment, &[(Doer, 0.75)]),
    ("assigned/tasked to/with", Commitment, &[(Passive, 0.68)]),
    ("has/have the action", Commitment, &[(Doer, 0.8)]),
    ("needs/has to", Commitment, &[(Person, 0.55)]),
    (
        "moving/starting/leaving/joining/visiting/flying/hosting/attending/traveling/travelling/running ~ in/on/next/tomorrow/this",
        Commitment,
        &[(Me, 0.58)],
    ),
    // What was settled.
    (
        "decided/decides to/that/on/against/not/:",
        Decision,
        &[(Doer, 0.85), (Collective, 0.85), (Nobody, 0.72)],
    ),
    ("decided/agreed", Decision, &[(Passive, 0.8)]),
    ("agreed that/on/upon/:/not/to", Decision, &[(Collective, 0.85), (Nobody, 0.72)]),
    (
        "approved/approves the/a/an/our/this/that/it/to/using/moving",
        Decision,
        &[(Doer, 0.78), (Nobody, 0.65)],
    ),
    ("approved", Decision, &[(Passive, 0.74), (Person, 0.66)]),
    ("chose/selected/opted", Decision, &[(Doer, 0.78), (Collective, 0.78), (Nobody, 0.66)]),
    ("chosen/selected", Decision, &[(Passive, 0.72)]),
    ("settled on", Decision, &[(Doer, 0.8), (Collective, 0.8)]),
    ("went with", Decision, &[(Collective, 0.74)]),
    ("resolved to/that", Decision, &[(Doer, 0.76), (Collective, 0.76)]),
    ("rejected/vetoed", Decision, &[(Doer, 0.74), (Collective, 0.74), (Passive, 0.7), (Nobody, 0.66)]),
    ("ruled out", Decision, &[(Doer, 0.72), (Collective, 0.72)]),
    ("voted to/for/against", Decision, &[(Doer, 0.78), (Collective, 0.78)]),
    ("signed off on", Decision, &[(Doer, 0.74)]),
    ("greenlit/green-lit/greenlighted", Decision, &[(Doer, 0.74), (Passive, 0.72)]),
    ("standardized/standardised on", Decision, &[(Collective, 0.7)]),
    ("adopted", Decision, &[(Collective, 0.68), (Passive, 0.62)]),
    ("decision is/was to/that", Decision, &[(Free, 0.82)]),
    ("decision made/reached to/that/:", Decision, &[(Free, 0.8)]),
    ("decision was made/reached/taken", Decision, &[(Free, 0.8)]),
    ("made/reached/took the/a decision", Decision, &[(Doer, 0.78), (Collective, 0.78)]),
    ("consensus is/was/to/that", Decision, &[(Free, 0.66)]),
    ("going with", Decision, &[(Collective, 0.72)]),
    // What was done.
    (
        "shipped/deployed/released/completed/finished/merged/delivered/fixed/launched/implemented/migrated/published/\
         submitted/installed/upgraded/patched/resolved/closed/refactored/finalized/finalised",
        Execution,
        &[(Doer, 0.78), (Passive, 0.7), (Nobody, 0.62)],
    ),
    (
        "shipped/launched/deployed/merged/landed on/to/in/last/yesterday/today/this/at/with/.",
        Execution,
        &[(Thing, 0.64)],
    ),
    ("rolled/rolling out", Execution, &[(Doer, 0.74), (Passive, 0.7), (Nobody, 0.6)]),
    ("went/gone live", Execution, &[(Doer, 0.72), (Thing, 0.72)]),
    ("wrapped up", Execution, &[(Doer, 0.7), (Nobody, 0.6)]),
    ("set up", Execution, &[(Doer, 0.58)]),
    ("put together", Execution, &[(Doer, 0.58)]),
    ("done/complete/completed/live/finished/deployed/merged/resolved/fixed", Execution, &[(State, 0.64)]),
    (
        "updated/added/created/built/wrote/sent/tested/prepared/drafted/presented/configured/integrated/documented/removed/\
         enabled/automated/conducted/organized/organised/hired/recruited/trained/uploaded/investigated/audited/benchmarked/\
         optimized/optimised/rewrote/redesigned/onboarded/filed/reviewed/interviewed/posted/booked/ordered/purchased/\
         validated/verified/analyzed/analysed/demoed/rebuilt/translated/restored/provisioned/signed/rotated/reproduced",
        Execution,
        &[(Doer, 0.6), (Nobody, 0.54)],
    ),
    (
        "bought/adopted/graduated/planted/quit/joined/started/passed/won/moved/volunteered",
        Execution,
        &[(Me, 0.6)],
    ),
    ("signed up for", Execution, &[(Me, 0.58)]),
    ("got a/an/the/my/accepted/engaged/married/promoted/hired", Execution, &[(Me, 0.54)]),
    // What may go wrong.
    ("at risk", QualityRisk, &[(Free, 0.72)]),
    ("risk that/of/is/to/:", QualityRisk, &[(Free, 0.68)]),
    ("poses/pose/posing/introduces a/an", QualityRisk, &[(Thing, 0.6)]),
    ("blocked by/on/until/because/pending/waiting", QualityRisk, &[(Free, 0.78)]),
    ("blocked", QualityRisk, &[(Passive, 0.72)]),
    ("a/the/main/biggest/only/current blocker", QualityRisk, &[(Free, 0.66)]),
    ("blocking the/our/us/me/release/launch/deployment", QualityRisk, &[(Free, 0.64)]),
    ("waiting on/for", QualityRisk, &[(Passive, 0.66)]),
    ("failing/flaky", QualityRisk, &[(Passive, 0.7)]),
    ("keeps/keep failing/crashing/breaking/timing", QualityRisk, &[(Free, 0.72)]),
    ("failed", QualityRisk, &[(Thing, 0.64)]),
    ("outage/outages", QualityRisk, &[(Free, 0.66)]),
    ("vulnerability/vulnerabilities", QualityRisk, &[(Free, 0.66)]),
    ("regression/regressions in/of/on/after/since", QualityRisk, &[(Free, 0.66)]),
    ("delayed by/because/due/until", QualityRisk, &[(Free, 0.7)]),
    ("delayed", QualityRisk, &[(Passive, 0.68)]),
    (
        "may/might/could/will slip/delay/miss/fail/break/block/jeopardize/jeopardise",
        QualityRisk,
        &[(Thing, 0.66), (Doer, 0.62)],
    ),
    ("slipping/slipped", QualityRisk, &[(Thing, 0.66), (Passive, 0.66)]),
    ("concern/concerns/concerned/worried about/that/over/with/is/:", QualityRisk, &[(Free, 0.68)]),
    ("raised a/an/some/serious concern/concerns/risk/issue", QualityRisk, &[(Free, 0.7)]),
    ("raised concerns/concern", QualityRisk, &[(Free, 0.7)]),
    ("behind schedule", QualityRisk, &[(Free, 0.74)]),
    ("over budget", QualityRisk, &[(Free, 0.72)]),
    ("understaffed/short-staffed/overdue", QualityRisk, &[(Passive, 0.66)]),
    ("a/the bottleneck", QualityRisk, &[(Free, 0.62)]),
    ("memory leak/leaks", QualityRisk, &[(Free, 0.66)]),
    ("data loss", QualityRisk, &[(Free, 0.62)]),
    ("a/an/the/critical/major incident/outage/bug", QualityRisk, &[(Free, 0.56)]),
    ("crashed/crashes/crashing", QualityRisk, &[(Thing, 0.62), (Passive, 0.62)]),
    ("latency ~ increased/spiked/rose/doubled/regressed/degraded/jumped", QualityRisk, &[(Free, 0.7)]),
    ("error rate/rates ~ increased/spiked/rose/doubled/jumped/above/at", QualityRisk, &[(Free, 0.66)]),
    ("degraded", QualityRisk, &[(Passive, 0.62), (Thing, 0.6)]),
    ("timing out", QualityRisk, &[(Passive, 0.64)]),
    ("security issue/hole/flaw/gap/bug/breach", QualityRisk, &[(Free, 0.66)]),
    ("single point of failure", QualityRisk, &[(Free, 0.66)]),
    ("issue/issues/problem/problems with", QualityRisk, &[(Free, 0.58)]),
    (
        "found/discovered/hit/reported/seeing/have/has/is/'s a/an bug/issue/problem/defect/risk",
        QualityRisk,
        &[(Free, 0.62)],
    ),
    ("threatens/threaten/jeopardizes/jeopardises/endangers", QualityRisk, &[(Thing, 0.66)]),
    ("running/ran out of", QualityRisk, &[(Free, 0.56)]),
    ("missed the/our/its deadline", QualityRisk, &[(Free, 0.68)]),
    ("scope creep", QualityRisk, &[(Free, 0.6)]),
    ("lack/shortage of", QualityRisk, &[(Free, 0.55)]),
    // Who worked with whom.
    (
        "worked/working/works/collaborated/collaborating/partnered/partnering/paired/pairing/coordinated/coordinating/\
         met/synced/syncing/teamed with/closely/together/up",
        Collaboration,
        &[(Company, 0.68)],
    ),
    ("met/brainstormed/consulted with/together", Collaboration, &[(Company, 0.7)]),
    ("paired/worked on ~ with", Collaboration, &[(Company, 0.66)]),
    ("handed/handing over/off", Collaboration, &[(Doer, 0.66)]),
    ("handed/handing ~ over/off to", Collaboration, &[(Company, 0.66)]),
    // What others think of it.
    ("feedback from/on/about/was/is/:", Feedback, &[(Free, 0.68)]),
    ("gave/shared/provided/received/got ~ feedback", Feedback, &[(Voice, 0.72)]),
    (
        "liked/loved/praised/complained/criticized/criticised/commended/appreciated/disliked/applauded",
        Feedback,
        &[(Voice, 0.64)],
    ),
    (
        "suggested/suggests/recommended/recommends that/a/an/the/to/adding/using/making/changing/splitting/moving/we",
        Feedback,
        &[(Person, 0.56)],
    ),
    ("requested/requests/requesting improvement/improvements/changes/more", Feedback, &[(Voice, 0.6)]),
    ("commented that/on", Feedback, &[(Voice, 0.62)]),
    (
        "found ~ confusing/helpful/useful/difficult/slow/unclear/intuitive/cumbersome/clear/hard/easy",
        Feedback,
        &[(Voice, 0.62)],
    ),
    (
        "impressed/happy/unhappy/pleased/disappointed/dissatisfied/frustrated/satisfied with/by/about",
        Feedback,
        &[(Voice, 0.6)],
    ),
    // What is different now.
    (
        "changed/moved/switched/shifted/increased/reduced/decreased/raised/lowered/extended/cut/bumped/pushed/migrated/grew/\
         dropped/changes/renamed/adjusted/revised from ~ to",
        Change,
        &[(Free, 0.74)],
    ),
    (
        "changed/moved/switched/shifted/increased/reduced/decreased/raised/lowered/extended/cut/bumped/pushed/migrated/\
         changes/renamed/adjusted/revised ~ from ~ to",
        Change,
        &[(Free, 0.72)],
    ),
    ("renamed ~ to/as", Change, &[(Free, 0.7)]),
    ("postponed/rescheduled/deferred to/until/by/from", Change, &[(Free, 0.72)]),
    ("postponed/rescheduled/cancelled/canceled", Change, &[(Doer, 0.66), (Passive, 0.68), (Nobody, 0.6)]),
    ("moved/pushed back/out/up ~ to/by", Change, &[(Free, 0.68)]),
    ("replaced/replaces/replacing ~ with/by", Change, &[(Free, 0.68)]),
    ("switched to/over", Change, &[(Doer, 0.62)]),
    ("scope was/has/changed/reduced/expanded/grew", Change, &[(Free, 0.66)]),
    ("change in/of scope", Change, &[(Free, 0.64)]),
    // Who is who.
    ("joined/joins/joining ~ as", Stakeholder, &[(Person, 0.76)]),
    ("joined/joining the/our/us ~ team/company/project/group", Stakeholder, &[(Person, 0.68)]),
    ("joined/joining the/our team/company/project/group", Stakeholder, &[(Person, 0.68)]),
    (
        "is/was/becomes/became/remains the/our/a/an ~ owner/lead/sponsor/contact/stakeholder/champion/liaison/approver/\
         maintainer/head/representative",
        Stakeholder,
        &[(Person, 0.68)],
    ),
    (
        "is/was/becomes/became/remains the/our owner/lead/sponsor/contact/stakeholder/approver/head/maintainer",
        Stakeholder,
        &[(Person, 0.7)],
    ),
    ("responsible/accountable for", Stakeholder, &[(Person, 0.68)]),
    ("reports to", Stakeholder, &[(Person, 0.68)]),
    ("left/leaving/leaves the/our team/company/project", Stakeholder, &[(Person, 0.68)]),
    ("appointed/named/promoted as/to/the", Stakeholder, &[(Passive, 0.7)]),
    ("taking/takes/took over as/from", Stakeholder, &[(Person, 0.7)]),
    ("stepping/stepped down", Stakeholder, &[(Person, 0.68)]),
    ("point of contact", Stakeholder, &[(Free, 0.6)]),
];

pub(super) struct Cue {
    words: Vec<Vec<&'static str>>,
    pub(super) category: Category,
    pub(super) wanted: &'static [(Who, f32)],
}

static CUES: LazyLock<HashMap<&'static str, Vec<Cue>>> = LazyLock::new(|| {
    let mut cues: HashMap<&str, Vec<Cue>> = HashMap::new();
    for (phrase, category, wanted) in TABLE {
        let words: Vec<Vec<&str>> = phrase.split(' ').map(|word| word.split('/').collect()).collect();
        for first in words[0].clone() {
            cues.entry(first).or_default().push(Cue { words: words.clone(), category: *category, wanted });
        }
    }
    cues
});

/// How many tokens `~` stands for at most.
const GAP_MAX: usize = 8;

/// The cues whose phrase stands at a token, with the token after each.
pub(super) fn at<'t>(
    text: &'t Text<'_>,
    at: usize,
    end: usize,
) -> impl Iterator<Item = (&'static Cue, usize)> + 't {
    let cues: &'static [Cue] = CUES.get(text.word(at)).map_or(&[], Vec::as_slice);
    cues.iter().filter_map(move |cue| Some((cue, matched(text, &cue.words[1..], at + 1, end)?)))
}

fn matched(text: &Text<'_>, words: &[Vec<&'static str>], at: usize, end: usize) -> Option<usize> {
    let Some((first, rest)) = words.split_first() else { return Some(at) };
    if first[0] == "~" {
        return (at..end.min(at + GAP_MAX)).find_map(|skip| matched(text, rest, skip, end));
    }
    (at < end && first.contains(&text.word(at))).then(|| matched(text, rest, at + 1, end)).flatten()
}
