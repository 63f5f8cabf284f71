//! Words that are in the names of organisations and teams.

use super::super::wordset::WordSet;

/// What the name of a company ends with.
pub(in super::super) fn is_company_ending(word: &str) -> bool {
    matches!(
        word,
        "Inc"
            | "Ltd"
            | "GmbH"
            | "Corp"
            | "LLC"
            | "AG"
            | "PLC"
            | "Corporation"
            | "Limited"
            | "Foundation"
            | "University"
            | "Institute"
            | "Technologies"
            | "Labs"
            | "Industries"
    )
}

pub(super) fn is_function_word(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "this"
            | "that"
            | "our"
            | "your"
            | "my"
            | "a"
            | "an"
            | "each"
            | "every"
            | "their"
            | "his"
            | "her"
            | "its"
            | "new"
            | "next"
            | "first"
            | "last"
            | "whole"
            | "entire"
            | "other"
            | "same"
            | "all"
            | "any"
            | "some"
            | "no"
            | "both"
            | "for"
            | "and"
            | "or"
            | "with"
            | "from"
            | "in"
            | "on"
            | "of"
            | "to"
            | "by"
            | "as"
            | "at"
            | "if"
            | "which"
            | "what"
            | "hi"
            | "dear"
            | "hello"
            | "thanks"
            | "one"
            | "open"
            | "local"
            | "external"
            | "internal"
            | "meet"
            | "join"
    )
}

pub(super) fn is_verb_like(word: &str) -> bool {
    matches!(
        word,
        "start"
            | "project"
            | "close"
            | "finish"
            | "cancel"
            | "create"
            | "plan"
            | "side"
            | "pilot"
            | "big"
            | "current"
            | "previous"
    )
}

pub(super) fn is_team_word(word: &str) -> bool {
    matches!(
        word,
        "platform"
            | "data"
            | "security"
            | "design"
            | "frontend"
            | "backend"
            | "infra"
            | "infrastructure"
            | "mobile"
            | "sales"
            | "marketing"
            | "legal"
            | "finance"
            | "support"
            | "ops"
            | "operations"
            | "qa"
            | "research"
            | "engineering"
            | "devops"
            | "sre"
            | "growth"
            | "payments"
            | "billing"
            | "analytics"
            | "hr"
            | "procurement"
            | "logistics"
    )
}

/// Words that only the names of organisations end with.
static BODIES: WordSet = WordSet::new(
    "Bank Group Partners Solicitors Hospital Clinic School College Academy Council Committee Club Association \
     Society Trust Ministry Department Directorate Chamber Union LLP BV SA SARL SpA NV Oy AB Tours Logistics \
     Studios Films Pictures Farms Foods Agency Authority Federation Lab Laboratory Laboratories Library Museum \
     Theatre Civil Construction Builders Architects Engineering Consulting Insurance Bakery Brewery Restaurant \
     Hotel Klinikum Universität Shipping Freight Transport Motors Airlines Press Media Software Systems Solutions \
     Services Capital Holdings Ventures Energy Electric Pharma Medical Associates Chambers Nursery Orchestra Choir \
     Rovers FC Cooperative Co-op Parish Diocese Institute Cooperative Co-operative Surgeons Guild Charity \
     Conservatory Observatory Stadtwerke Municipality Borough Scouts Ramblers Alliance Coalition Consortium \
     Fellowship",
);

pub(super) fn is_body(word: &str) -> bool {
    is_company_ending(word) || BODIES.contains(word) || is_shouted_body(word)
}

/// «THORNBY PARISH COUNCIL».
fn is_shouted_body(word: &str) -> bool {
    let shouted = word.len() > 4 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    shouted && BODIES.contains(&format!("{}{}", &word[..1], word[1..].to_ascii_lowercase()))
}

/// What firms and clubs do or are: their names' last word, where another name stands before it.
static TRADES: WordSet = WordSet::new(
    "aggregates analytics bakeries bikes biochem biotech boats books builds cafe care carpentry catering centre charity civils \
     cleaning collective couriers cycles dental design diagnostics dynamics electrical elektro events express farm ferries fisheries \
     flooring forum games glass glazing growers guild haulage health homes hospice hosting hotels housing interiors joinery kitchens \
     landscaping legends lines maschinenbau mutual museums networks nurseries optics outfitters overland packaging paper \
     pharmaceuticals pharmacy plastics plumbing primary printers printing productions properties publishing radio ramblers records \
     recycling removals rentals robotics roofing roofers scouts seed seeds secondary security storage supplies surgeons surgery survey \
     surveyors taxi taxis telecom textiles therapeutics timber tools trading travel utilities veterinary vets water wheelers wines \
     workshop works",
);

pub(super) fn is_trade_word(word: &str) -> bool {
    TRADES.contains(word)
}

static LEADING: WordSet = WordSet::new(
    "Klinikum Hospital Clinique Universität Hotel Restaurant Studio Bank Café Clinic FC Clínica Klinik Bakery Bakkerij Bäckerei \
     Osteria Trattoria Pizzeria Atelier Kunsthal Kunsthalle Museo Musée Stadtmuseum Stadtwerke Laborzentrum Sparbank Sparkasse Banco \
     Boatworks Rudergemeinschaft Collège Lycée École Ysgol Colegio Escola Instituto Fundación Fundação Brasserie Bistro Brouwerij \
     Association Ferme Domaine Verein Gemeinde Autohaus Spedition",
);

/// Bodies whose name follows them: «Klinikum Ostertal», «Hospital Marienhöhe», «Clinique des Tilleuls».
pub(super) fn is_leading_body(word: &str) -> bool {
    LEADING.contains(word)
}
