//! Word lists about names: common first names, and capitalised words that are no names.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Common first names of many languages that are not also English words.
const FIRST_NAMES: &str = "\
     aaron abdul abigail adaeze adam aditya adriana agnieszka ahmed aiko aisha akira alan albert \
     alejandra alejandro alena alex alexander alexandra alexei alfred ali alice alicia alina alison \
     allison amanda amara amelia amina amir amit amy ana ananya anders andre andrea andreas andrew andré \
     andrés andy angela anil anita anja anjali ann anna anne annika anthony anton antonio arash arjun \
     arthur asha ashley astrid ava barbara beatriz ben benjamin bernard beth betty bianca bjorn björn bob \
     bobby bogdan boris brandon brenda brian bruce bruno caleb camila carla carlos carmen carol caroline \
     catherine cecilia chad charles charlie charlotte chidi chioma chloe chloé chris christina christine \
     christopher cindy claire clara claudia cody colin connor craig cynthia dalia dan dana daniel daniela \
     danny darius dave david deborah deepa deepak denis dennis derek diana diego dimitri divya dmitri \
     dominic donald donna doris doug douglas dylan eddie eduardo edward eleanor elena eli elias elijah \
     elizabeth ella ellen emeka emil emily emma eric erica erik erin esther ethan eva evan evelyn ezra \
     farah fatima felipe felix fernando fiona folake francesca francis francisco frank françois fred \
     frederick freya gabriel gabriela ganesh gary george gerald gina giovanni gloria gordon greg gregory \
     greta guillermo gustavo hadi hana hannah hans harold harry harsh haruto hassan heather hector heidi \
     helen helena henrik henry hiroshi hugo hyun ian ibrahim ida ifeoma igor ilya imani ines ingrid inés \
     irene isaac isabel isabella ishaan isla ivan ivana iñaki jack jackie jacob jake jakub jamal james \
     jamie jana jane janet jared jasmine jason javier jean jeff jeffrey jelena jenna jennifer jenny \
     jeremy jerry jesse jessica jesús jiho jill jim jimmy jin jisoo joan joanna joao joe joel johan john \
     johnny jon jonas jonathan jorge jose joseph josh joshua josé joão juan judith judy julia julian \
     juliana julie julien juliet jun justin jürgen kai kaito karen karim karl karla karthik kasia \
     katarzyna kate katherine kathleen kathy katie kavya kayla keith kelly kenji kenneth kevin khalid kim \
     kimberly kofi kristen kristin kurt kwame kwesi kyle lakshmi lars laura lauren layla lea leah lee \
     leila lena leo leon leonard leslie liam linda lindsay linh linus lisa liu liz logan lorenzo louis \
     louise luca lucas lucia lucy lucía luis luisa luka lukas luke lydia lynn léa maeve magda magnus \
     malik manuel mara marc marcel marco marcus marek margaret maria mariam marianne marie marina mario \
     marisol marko marta martha martin martina mary maría mateo mathias matt matteo matthew maurice max \
     maya meera megan mehmet mei mei-ling melanie melissa meredith mia michael michelle miguel mikael \
     mike mila milica mina ming minh minjun mirela miriam mohamed mohammed molly monica morgan moses \
     mónica müge nadia nancy naomi natalia natalie natasha nathan neha neil ngozi nia nicholas nick \
     nicola nicolas nicole nicolás nikhil nikola nikolai nina nisha noah noor nora norman nuria odette \
     olaf oleg olga oliver olivia oluwaseun omar oscar otto owen pablo pamela parisa patricia patrick \
     paul paula pauline pawel pedro peter petr petra phil philip philipp pierre piotr pooja priya rachel \
     radu rafael rahul raj rajesh ralph ramesh ramon rania raquel raul ravi raúl rebecca reggie renata \
     rene rené ricardo richard rick rita rob robert roberto robin rodrigo roger rohan rohit roland roman \
     ronald rosa rosie ross ruth ryan sabrina sadia sakura sally salma sam samantha samir samuel sandra \
     sanjay sara sarah sasha scott sean sebastian selma serena sergei sergio seth shannon sharon shaun \
     shirin shreya siddharth silvia simon simone sneha sofia sofía sonia sonja soojin sophia sophie \
     stefan stephanie stephen steve steven stuart sunil suresh susan suzanne sven svetlana søren takeshi \
     tamara tanya tara tariq tatiana ted teresa tereza terry theo theodore theresa thomas thuy tiffany \
     tim timothy tina tobias todd tom tomas tommy tomás toni tony tracy travis trevor tuan tunde tyler \
     umar ursula valentina valeria vanessa varun vera veronica victor vijay vikram vincent vivian vlad \
     vladimir walter wanda wei wendy wesley wilhelm william xavier xin yan yasmin yolanda yui yuki yuri \
     yusuf yvonne zach zachary zahra zainab zara zoe zoran zoë zuzana ángel åsa élise óscar øystein";

/// First and last names that are also words: only a name beside another sign of one.
const WORDY_NAMES: &str = "\
     amber angel april art august austin bill bishop carolina carter chase chelsea chen chip christian \
     cliff cooper crystal daisy dallas dawn dean destiny drew duke earl ed faith florence gail gene \
     georgia glen grace grant guy harper hazel heath holly hope hunter iris ivy jade jan jay jordan josh \
     joy june ken kit kumar lance lane lily lin mark mason may melody milan miles nguyen nick norm olive \
     page paris parker pat pearl peg penny piper ray ren rich rob robin rose ruby rusty sage sandy skip \
     sterling sue summer sydney taylor trip van victoria violet virginia wade ward will";

/// Capitalised words that are no part of a person's name.
const NOT_NAMES: &str = "\
     a about above accepted across action actions actually add additional additionally africa after \
     afternoon ag again against agenda agreed ah airflow airport alerts all allow along already also \
     alternatives although always amazon america among amsterdam an analyst analytics and and/or android \
     angeles angular ansible answer anthropic any anybody anyone anything api apis app apparently \
     appendix apple application approved apps apr april architect are around as asana asap asia ask \
     assurance at attendees audit aug august austin australia auth authentication autumn availability \
     avenue awesome aws azure backend background bake bank barcelona basically bay bcc be because been \
     before begin behind below berlin beside best between beyond billing birthday blocked blocker \
     blockers blog board boston both brazil breakfast budget bug bugs build building builds bump but by \
     cache call came campaign can canada candidate candidates cc cd ceo cfo change changes chapter \
     chatgpt check checkout cheers chicago china chinese chop christmas chrome ci city claude cli click \
     client clients closed cloud cluster co coffee college combine come committee company complete \
     completed compliance conclusion conference confidential configure confirm confluence consequences \
     consider contact content context continue contract coo cook cool copilot corp corporation correct \
     could council county create critical css csv cto current currently customer customers dallas \
     dashboard data database databricks datadog date db deadline dear debug dec december decision \
     decisions define delete deliverable deliverables demo denver department deploy deployment deprecated \
     design designer despite dev developer development devops did dinner director disable discuss django \
     do doc docker docs document documentation does done down dr draft dublin during each east easter \
     either elasticsearch email enable end engineer engineering english enjoy ensure eod eow error etc \
     europe evaluate evening eventually ever every everybody everyone everything exactly example examples \
     excel except explore external facebook failed failure fall faq fatal feature features feb february \
     feedback few figma figure final finally finance fine finish finished firefox first fix flask floor \
     follow following for fortunately foundation france francisco french fri friday from frontend \
     furthermore fw fwd fyi gcp gdpr gemini general german germany get github gitlab give global gmail \
     gmbh go goal goals god going golang good google got gpt grafana graphql great group grpc had hadoop \
     halloween hamburg has have he heat hello her here hey hi high him hiring his hmm holding holdings \
     hospital hotel hotfix how however hr html http https hubspot i if impact implement important improve \
     in inc incident index india info infrastructure initial inside install instead institute integration \
     interesting internal international interview into introduction investigate invoice ios is island iso \
     issue issues it italy item items its jan january japan japanese java javascript jenkins jesus jira \
     join json jul july jun june kafka keep key kickoff kingdom know kotlin kpi kubernetes labs lake last \
     latency launch lead leadership learn legal let let's limited linear linux llc local location logging \
     login london look lord los low ltd lunch macos madam made madrid main major make management manager \
     many mar march marketing may maybe me meanwhile medium meeting meetings merge meta metrics mexico \
     microsoft might migrate migration milan milestone minor minutes mitigation mix mobile mon monday \
     mongodb monitor monitoring month more moreover morning most mountain move mr mrs ms much munich must \
     mvp my mysql n/a na national near need neither network never new newsletter next nginx nice no \
     nobody node none nope nor north not note notes nothing notify notion nov november now oct october of \
     off office often oh ok okay okr on onboarding once one only onto open openai operations ops option \
     options or organization originally other others otherwise our out outage outlook outside over \
     overall overview own owner p0 p1 p2 page paris park participants partner partners past patch payment \
     payments paypal pdf pending people per perfect performance perhaps person phase php pipeline plan \
     planning platform plc please pm poc policy postgres postgresql pour powerpoint pr prepare \
     presentation press previous pricing priority privacy private prod product production prof program \
     project prometheus proposal proposed prs ps public publish python qa qdrant quality quarter question \
     questions queue quite rabbitmq rails rather rationale re react read really recently redis refactor \
     regards register rejected release released reliability remove rename report requirement requirements \
     research rest retro retrospective revert review right risk risks river road roadmap roi rome room \
     ruby run rust safari said sales salesforce same san sat saturday say scalability schedule school \
     scope sdk search seattle second section security see seldom send sentry sep sept september serve \
     server servers service services set several shall share she ship shipped should since sincerely sir \
     sla slack slice snowflake so soc solutions some somebody someone something sometimes soon sounds \
     south spain spanish spark spec sponsor spring sprint sql staff staging stakeholder stakeholders \
     standup start state states status step steps still stir stop storage strategy street stripe studio \
     studios subject subscribe success such summary summer sun sunday support sure svp swift switch sync \
     system systems table take task tasks tba tbd team teams technologies tell terraform test testing \
     tests thank thanks thanksgiving that the their them then there therefore these they think third this \
     those though through throughout thu thursday thus time timeline to today todo tokyo tomorrow tonight \
     too total toward town track training travel trello try tue tuesday twitter typescript uat ubuntu ui \
     under unfortunately united university unless until up update updates upgrade upon us use user users \
     ux validate valley vendor vendors verify version very via visit vp vue want warning was watch we web \
     website wed wednesday week well went were west what when where which while who why will windows \
     winter with within without word workshop would wow write xml yaml yeah year yep yes yesterday yet \
     york you your zendesk zoom";

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}

static FIRST: LazyLock<HashSet<&str>> = LazyLock::new(|| set(FIRST_NAMES));
static WORDY: LazyLock<HashSet<&str>> = LazyLock::new(|| set(WORDY_NAMES));
static NOT: LazyLock<HashSet<&str>> = LazyLock::new(|| set(NOT_NAMES));

/// Whether a lower-case word is a first name and hardly anything else.
pub(super) fn is_first_name(word: &str) -> bool {
    FIRST.contains(word)
}

/// Whether a lower-case word is a name and an ordinary word.
pub(super) fn is_wordy_name(word: &str) -> bool {
    WORDY.contains(word)
}

/// Whether a lower-case word is known not to be a name.
pub(super) fn is_no_name(word: &str) -> bool {
    NOT.contains(word) && !WORDY.contains(word)
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
                || (loose && bare.chars().all(char::is_alphanumeric) && !is_no_name(&bare.to_lowercase()))
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
