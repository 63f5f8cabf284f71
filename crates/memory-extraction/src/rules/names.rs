//! Word lists about names: common first names, and capitalised words that are no names.

use super::wordset::WordSet;

/// First names of many languages that are not also common words, drawn mostly from the name lists of Faker (MIT).
static FIRST_NAMES: WordSet = WordSet::new(include_str!("first_names.txt"));

/// First and last names that are also words: only a name beside another sign of one.
static WORDY_NAMES: WordSet = WordSet::new(
    "\
     amber angel april art august austin bill bishop carolina carter chase chelsea chen chip christian \
     cliff cooper crystal daisy dallas dawn dean destiny drew duke earl ed faith florence gail gene \
     georgia glen grace grant guy harper hazel heath holly hope hunter iris ivy jade jan jay jordan josh \
     joy june ken kit kumar lance lane lily lin mark mason may melody milan miles nguyen nick norm olive \
     page paris parker pat pearl peg penny piper ray ren rich rob robin rose ruby rusty sage sandy skip \
     sterling sue summer sydney taylor trip van victoria violet virginia wade ward will",
);

/// Capitalised words that are no part of a person's name.
static NOT_NAMES: WordSet = WordSet::new(
    "\
     a about above accepted across action actions actually add additional additionally africa after \
     afternoon ag again against agenda agreed ah airflow aim airport alerts all allow along already also \
     alternatives although always amazon america among amsterdam an analyst analytics and and/or android \
     angeles angular ansible answer anthropic any anybody anyone anything api apis app apparently \
     appendix apple application approved apps apr april architect are around as asana asap asia ask \
     assurance at attendees audit aug august austin australia auth authentication autumn availability \
     avenue awesome aws azure backend background bake bank barcelona basically bay bcc be because been \
     before begin behind below berlin beside best between beyond billing birthday blocked blocker \
     blockers blog board boston both brazil breakfast budget bug bugs build building builds bump but by cabinet \
     cache call came campaign can canada candidate candidates cc cd ceo chair cfo change changes chapter \
     chatgpt check checkout cheers chicago china chinese chop christmas chrome ci city clay clerk claude cli click \
     client clients closed cloud cluster co coffee college combine come committee company complete \
     completed compliance conclusion conference confidential configure confirm confluence consequences \
     consider contact content context continue contract coo cook cool copilot corp corporation correct \
     could council county create critical css csv cto current currently customer customers dallas \
     dashboard data database databricks datadog date db deadline dear debug dec december decision \
     decisions define delete deliverable deliverables demo denver department deploy deployment deprecated \
     design designer despite dev developer development devops did dinner director disable discuss django \
     do doc docker docs document documentation does done down dr draft dublin during each east easter \
     either elasticsearch email enable end engineer engineering english enjoy ensure eod eow error eta etc \
     europe evaluate evening eventually ever every everybody everyone everything exactly example examples \
     excel except explore external facebook failed fallback family failure fall faq fatal feature features feb february \
     feedback few figma figure final finally finance fine finish finished firefox first fix flask floor \
     follow following for forum fortunately foundation france francisco frequently french fri friday from frontend \
     furthermore fw fwd fyi gcp gdpr gemini general german germany get github gitlab give global gmail \
     gmbh go goal goals god going golang good google got gpt grafana graphql great group grpc had hadoop \
     halloween hamburg has have he heat hello her here hey hi high him hiring his hmm holding holdings \
     hospital hotel hotfix how however hr html http https hubspot i if impact implement important improve \
     in inc incident index india info infrastructure initial inside install instead institute integration \
     interesting internal international interview into introduction investigate invoice ios is island iso \
     issue issues it italy item items its jan january japan japanese java javascript jenkins jesus jira \
     join json jul july jun june kafka keep key kickoff kiln kingdom know kotlin kpi kubernetes labs lake last \
     latency launch lead leadership learn legal legend let let's limited linear linux llc local location logging \
     login london look lord los low ltd lunch macos madam made madrid main major make management manager \
     many mar march marketing may maybe me meanwhile medium meeting meetings merge meta metrics mexico \
     microsoft might migrate migration milan milestone minor minutes mitigation mix mobile mon monday \
     mongodb monitor monitoring month more moreover morning most mountain move mr mrs ms much munich must \
     mvp my mysql n/a na name national near need neither network never new newsletter next nginx nice no \
     nobody node none nope nor north not note notes nothing notify notion nov november now oct october of \
     off office often oh ok okay okr on onboarding once one only onto open openai operations ops option \
     options or organization originally other others otherwise our out outage outlook outside over \
     overall overview own owner p0 p1 p2 page panel parents paris park participants partner partners past patch payment \
     payments paypal pdf pending people per perfect performance perhaps person phase php pipeline plan \
     planning platform plc please pm poc policy postgres postgresql pour powerpoint pr prepare prescriptions \
     presentation press previous pricing priority privacy private prod product production prof program \
     project prometheus proposal proposed prs ps public publish python qa qdrant quality quarter question \
     questions queue quite rabbitmq rails random rather rationale re react read really recently redis refactor \
     regards register rejected release released reliability reminder remove rename report repro requirement requirements \
     research rest retro retrospective revert review right risk risks river road roadmap root roi rome room \
     ruby run rust safari said sales salesforce same san sat saturday say scalability schedule school \
     scope sdk search seattle second section security see seldom send sentry sep sept september serve \
     server servers service services set several shall share she ship shipped should sign-up since sincerely sir \
     sla slack slice snowflake so soc solutions some somebody someone something sometimes soon sounds \
     south spain spanish spark spec sponsor spring sprint sql staff staging stakeholder stakeholders \
     standup start state states status step steps still stir stop storage strategy street stripe studio \
     studios subject subscribe success such summary summer sun sunday support sure svp swift switch sync \
     system systems table take task tasks tba tbd tea team teams technologies tell terraform test testing \
     tests thank thanks thanksgiving that the their them then there therefore these they think third this \
     those though through throughout thu thursday thus time timeline to today todo tokyo tomorrow tonight \
     too total toward town track training travel translations treasurer trello try tue tuesday twitter typescript uat ubuntu ui \
     under unfortunately united university unless until up update updates upgrade upon us use user users \
     ux validate valley vendor vendors verify version very via visit vp vue want warning was watch we web \
     website wed wednesday week well went were west what when where which while who why will windows \
     winter with within without word workshop would wow write xml yaml yeah year yep yes yesterday yet \
     york you your zendesk zoom",
);

/// Whether a lower-case word is a first name and hardly anything else.
pub(super) fn is_first_name(word: &str) -> bool {
    FIRST_NAMES.contains(word)
}

/// Whether a lower-case word is a name and an ordinary word.
pub(super) fn is_wordy_name(word: &str) -> bool {
    WORDY_NAMES.contains(word)
}

/// Whether a lower-case word is known not to be a name.
pub(super) fn is_no_name(word: &str) -> bool {
    NOT_NAMES.contains(word) && !WORDY_NAMES.contains(word)
}

/// Whether a lower-case word stands before the names of people.
pub(super) fn is_title(word: &str) -> bool {
    matches!(
        word,
        "mr" | "mrs"
            | "ms"
            | "miss"
            | "mx"
            | "dr"
            | "prof"
            | "professor"
            | "sr"
            | "cllr"
            | "cllrs"
            | "councillor"
            | "sir"
            | "madam"
            | "dame"
            | "coach"
            | "aunt"
            | "auntie"
            | "uncle"
            | "rev"
            | "reverend"
            | "fr"
            | "father"
            | "sister"
            | "brother"
            | "nurse"
            | "judge"
            | "justice"
            | "capt"
            | "captain"
            | "sgt"
            | "lt"
            | "hon"
            | "herr"
            | "frau"
            | "señor"
            | "señora"
            | "mme"
            | "doctor"
            | "senator"
            | "pastor"
            | "imam"
            | "rabbi"
            | "chef"
            | "officer"
            | "inspector"
            | "grandma"
            | "grandpa"
            | "oma"
            | "opa"
    )
}

/// «Dr. Tunde Adebayo» as «Tunde Adebayo».
pub(super) fn without_title(name: &str) -> &str {
    let mut name = name.trim();
    while let Some((first, rest)) = name.split_once(' ') {
        let bare = first.trim_end_matches('.').to_lowercase();
        // «Sister» and «Coach» may be all there is of a name's head; what follows must be a name.
        if !is_title(&bare) || !rest.trim_start().starts_with(char::is_uppercase) {
            break;
        }
        name = rest.trim_start();
    }
    name
}

/// Endings that names of people hardly have.
fn ends_like_a_word(word: &str) -> bool {
    const ENDINGS: [&str; 13] = [
        "ing", "tion", "sion", "ment", "ness", "ity", "ance", "ence", "ship", "able", "less", "ware", "ally",
    ];
    word.len() > 5 && ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// Whether a word can be a part of a name: a capital, letters, not a known word.
pub(super) fn could_be_part(word: &str) -> bool {
    let lower = word.to_lowercase();
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let inner = word.chars().skip(1).filter(|c| c.is_uppercase()).count();
    word.starts_with(char::is_uppercase)
        && (2..=20).contains(&letters)
        // `API`, `GraphQL`; but `McDonald`, `O'Brien`, `Jean-Luc`.
        && inner <= 1
        && !(inner == 1 && letters == 2)
        && word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'))
        && (is_first_name(&lower) || (!is_no_name(&lower) && !ends_like_a_word(&lower)))
}

/// Whether a whole string can be a person's name; in `loose` places lower case is accepted too.
pub(super) fn could_be_name(name: &str, loose: bool) -> bool {
    const PARTICLES: [&str; 14] =
        ["de", "van", "von", "der", "den", "da", "di", "del", "la", "al", "bin", "ten", "dos", "el"];
    let words: Vec<&str> = name.split_whitespace().collect();
    // After a sure first name any capitalised word is a last name: «Mina Park».
    let first_known = words.first().is_some_and(|word| is_first_name(&word.to_lowercase()));
    let lower_first = words.first().is_some_and(|word| word.starts_with(char::is_lowercase));
    (1..=4).contains(&words.len())
        && words.iter().all(|word| {
            let bare = word.trim_matches('.');
            could_be_part(bare)
                || (first_known
                    && bare.starts_with(char::is_uppercase)
                    && bare.chars().all(|c| c.is_alphabetic() || c == '-'))
                || PARTICLES.contains(&bare)
                || (bare.chars().count() == 1 && bare.starts_with(char::is_uppercase) && words.len() > 1)
                || (loose
                    && bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))
                    && !is_no_name(&bare.to_lowercase()))
        })
        && (loose || !lower_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_other_capitalised_words() {
        for name in [
            "Alice Chen",
            "Priya",
            "Tomás García",
            "Jean-Luc O'Brien",
            "Ludwig van Beethoven",
            "J. Smith",
            "Mark",
        ] {
            assert!(could_be_name(name, false), "{name}");
        }
        for other in [
            "Action Items",
            "API",
            "GraphQL",
            "Platform Team",
            "Budget",
            "2024",
            "the plan",
            "Monitoring",
            "a",
        ] {
            assert!(!could_be_name(other, false), "{other}");
        }
    }
}
