//! The word lists of the rules: which section of which data file each is.

use super::data_file::{DataFile, WordSet};

pub(super) static PEOPLE_FILE: DataFile = DataFile::new("people.txt", include_str!("../../data/people.txt"));
pub(super) static FEEDBACK_FILE: DataFile =
    DataFile::new("feedback.txt", include_str!("../../data/feedback.txt"));
pub(super) static RISK_FILE: DataFile = DataFile::new("risk.txt", include_str!("../../data/risk.txt"));
pub(super) static EXECUTION_FILE: DataFile =
    DataFile::new("execution.txt", include_str!("../../data/execution.txt"));
pub(super) static COMMITMENT_FILE: DataFile =
    DataFile::new("commitment.txt", include_str!("../../data/commitment.txt"));
pub(super) static FIRST_NAMES_FILE: DataFile =
    DataFile::new("first_names.txt", include_str!("../../data/first_names.txt"));
pub(super) static GIVEN_NAMES_FILE: DataFile =
    DataFile::new("given_names.txt", include_str!("../../data/given_names.txt"));
pub(super) static NAMES_FILE: DataFile = DataFile::new("names.txt", include_str!("../../data/names.txt"));
pub(super) static SOFTWARE_FILE: DataFile =
    DataFile::new("software.txt", include_str!("../../data/software.txt"));
pub(super) static ORGANISATIONS_FILE: DataFile =
    DataFile::new("organisations.txt", include_str!("../../data/organisations.txt"));
pub(super) static PLACES_FILE: DataFile = DataFile::new("places.txt", include_str!("../../data/places.txt"));
pub(super) static IRONY_FILE: DataFile = DataFile::new("irony.txt", include_str!("../../data/irony.txt"));
pub(super) static MAIL_FILE: DataFile = DataFile::new("mail.txt", include_str!("../../data/mail.txt"));
pub(super) static VERBS_FILE: DataFile = DataFile::new("verbs.txt", include_str!("../../data/verbs.txt"));
pub(super) static CUES_FILE: DataFile = DataFile::new("cues.txt", include_str!("../../data/cues.txt"));
static DOCUMENTS_FILE: DataFile = DataFile::new("documents.txt", include_str!("../../data/documents.txt"));
pub(super) static HEADINGS_FILE: DataFile =
    DataFile::new("headings.txt", include_str!("../../data/headings.txt"));

macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident: $file:ident[$section:literal];)*) => {
        $($(#[$doc])* pub(super) static $name: WordSet = WordSet::new(&$file, $section);)*

        #[cfg(test)]
        pub(super) static ALL: &[&WordSet] = &[$(&$name),*];
    };
}

lists! {
    /// What people can be in a group: captain, treasurer.
    ROLES: PEOPLE_FILE["roles"];
    /// What one person of a body is, and is called by: "the Treasurer".
    OFFICES: PEOPLE_FILE["offices"];
    /// Labels before the names of people with a part in the text.
    LABEL_ROLES: PEOPLE_FILE["label-roles"];
    /// Capitals that are no initials.
    ACRONYMS: PEOPLE_FILE["acronyms"];
    /// People outside of those who write, by what they are.
    PUBLIC: PEOPLE_FILE["public"];
    /// What stands behind a name in a list of people and is nobody: votes, degrees, hours, notes.
    ASIDES: PEOPLE_FILE["asides"];
    /// Titles that lead an organisation.
    EXECUTIVES: PEOPLE_FILE["executives"];
    /// Local parts of addresses that many people read.
    SHARED_MAILBOXES: PEOPLE_FILE["shared-mailboxes"];
    /// Who gives addresses to anybody, by the name in the domain.
    MAIL_PROVIDERS: PEOPLE_FILE["mail-providers"];
    /// Labels that stand before names and nothing else.
    NAME_LABELS: PEOPLE_FILE["name-labels"];
    /// Words that judge.
    JUDGING: FEEDBACK_FILE["judging"];
    /// Verbs that lead an opinion.
    THINKING: FEEDBACK_FILE["thinking"];
    /// Verbs that are an opinion.
    LIKING: FEEDBACK_FILE["liking"];
    /// Nouns for what is wrong.
    TROUBLES: RISK_FILE["troubles"];
    /// What something is when it is not as it should be.
    STATES: RISK_FILE["states"];
    /// Things people know, want or mean: not doing them is no harm.
    HARMLESS: RISK_FILE["harmless"];
    /// Words in -ed that are no verbs.
    NOT_VERBS: EXECUTION_FILE["not-verbs"];
    /// Verbs that a task begins with.
    TASK_VERBS: COMMITMENT_FILE["task-verbs"];
    /// Where one is expected at an hour: dentist, checkup.
    VISITS: COMMITMENT_FILE["visits"];
    /// Words of an answer that accepts something and says no more.
    ACCEPTING: COMMITMENT_FILE["accepting"];
    /// First names of many languages that are not also common words.
    FIRST_NAMES: FIRST_NAMES_FILE[""];
    /// First names of women, and of hardly any man.
    NAMES_OF_WOMEN: GIVEN_NAMES_FILE["female"];
    /// First names of men, and of hardly any woman.
    NAMES_OF_MEN: GIVEN_NAMES_FILE["male"];
    /// First and last names that are also words: only a name beside another sign of one.
    WORDY_NAMES: NAMES_FILE["also-words"];
    /// Capitalised words that are no part of a person's name.
    NOT_NAMES: NAMES_FILE["not-names"];
    /// Firms and bodies that many know.
    KNOWN_BODIES: ORGANISATIONS_FILE["known"];
    /// Programs and services that many work with.
    SOFTWARE: SOFTWARE_FILE["known"];
    /// Those of the known ones that are words of the language too.
    SOFTWARE_WORDS: SOFTWARE_FILE["also-words"];
    /// What is done with a program whose name follows behind "to" or "from".
    SOFTWARE_MOVES: SOFTWARE_FILE["moving"];
    /// What is done with a program whose name follows at once.
    SOFTWARE_USES: SOFTWARE_FILE["running"];
    /// What programs are after their name.
    SOFTWARE_STATES: SOFTWARE_FILE["states"];
    /// What a name in code marks is one of.
    PACKAGES: SOFTWARE_FILE["packages"];
    /// What the names of repositories and packages end with, behind a hyphen.
    PACKAGE_ENDINGS: SOFTWARE_FILE["package-endings"];
    /// What words with a hyphen begin with that are no names.
    COMPOUND_HEADS: SOFTWARE_FILE["compound-heads"];
    /// What words with a hyphen end with that are no names.
    COMPOUND_ENDS: SOFTWARE_FILE["compound-ends"];
    /// What is done with code that is then in a repository.
    CODE_MOVES: SOFTWARE_FILE["code-moves"];
    /// Folders, and words that stand before a slash.
    FOLDERS: SOFTWARE_FILE["folders"];
    /// What people meet for or write about one project, an organisation or a person.
    GATHERINGS: DOCUMENTS_FILE["gatherings"];
    /// Words behind which "on" leads to what is worked on.
    WORKING: DOCUMENTS_FILE["working"];
    /// What no name of work in small letters has in it.
    VAGUE_WORDS: DOCUMENTS_FILE["vague"];
    /// Work in small letters that is a project by what it is done to.
    BUILDING_WORK: DOCUMENTS_FILE["building-work"];
    /// Heads of lists of what is worked on.
    PROJECT_LISTS: DOCUMENTS_FILE["project-lists"];
    /// What is done with a project as a whole.
    PROJECT_ACTS: DOCUMENTS_FILE["project-acts"];
    /// What is of or for one project.
    PLANS: DOCUMENTS_FILE["plans"];
    /// What projects are or do behind "is", "needs" and "ships".
    PROJECT_STATES: DOCUMENTS_FILE["project-states"];
    /// Kinds of documents that are about one project.
    DOCUMENT_KINDS: DOCUMENTS_FILE["kinds"];
    /// What has a title.
    WORKS: DOCUMENTS_FILE["works"];
    /// Heads of columns with the day on which it was.
    DAY_COLUMNS: DOCUMENTS_FILE["day-columns"];
    /// Words in the heads of columns with who is to do it.
    OWNER_COLUMNS: DOCUMENTS_FILE["owner-columns"];
    /// Heads of columns with names of what is worked on.
    PROJECT_COLUMNS: DOCUMENTS_FILE["project-columns"];
    /// Who belongs to an organisation, after its name.
    STAFF: ORGANISATIONS_FILE["staff"];
    /// What organisations are to others, before a name.
    BUSINESS_RELATIONS: ORGANISATIONS_FILE["relations"];
    /// What one has from or with an organisation.
    DEALINGS: ORGANISATIONS_FILE["dealings"];
    /// Work on something that has a name.
    NAMED_WORK: ORGANISATIONS_FILE["named-work"];
    /// Work and things that have a name where an article stands before it.
    ARTICLED_WORK: ORGANISATIONS_FILE["articled-work"];
    /// What is wrong, new or done in a program.
    IN_PROGRAMS: SOFTWARE_FILE["in-programs"];
    /// Departments.
    DEPARTMENTS: ORGANISATIONS_FILE["departments"];
    /// Words that only the names of organisations end with.
    BODIES: ORGANISATIONS_FILE["bodies"];
    /// What firms and clubs do or are: their names' last word, where another name stands before it.
    TRADES: ORGANISATIONS_FILE["trades"];
    /// What a body is one of, in small letters behind its name.
    SMALL_BODIES: ORGANISATIONS_FILE["small-bodies"];
    /// What the names of departments of several words end with.
    UNITS: ORGANISATIONS_FILE["units"];
    /// Bodies in small letters that take on tasks.
    ACTING_BODIES: ORGANISATIONS_FILE["acting-bodies"];
    /// Bodies whose name follows them.
    LEADING_BODIES: ORGANISATIONS_FILE["leading"];
    /// Countries, regions and larger cities, in one word.
    PLACES: PLACES_FILE["known"];
    /// What the name of a place ends with.
    PLACE_ENDINGS: PLACES_FILE["endings"];
    /// What has a number or a letter.
    NUMBERED_PLACES: PLACES_FILE["numbered"];
    /// What stands in a place and is named by it.
    SITES: PLACES_FILE["sites"];
    /// What leads, with "to" or "from", to where one goes.
    WAYS: PLACES_FILE["ways"];
    /// Words before the names of people.
    TITLES: NAMES_FILE["titles"];
    /// Those that only women have.
    TITLES_OF_WOMEN: NAMES_FILE["titles-of-women"];
    /// Those that only men have.
    TITLES_OF_MEN: NAMES_FILE["titles-of-men"];
    /// Verbs by which another gets what is to be dealt with.
    HANDING_VERBS: COMMITMENT_FILE["handing"];
    /// What the name of a company ends with.
    COMPANY_ENDINGS: ORGANISATIONS_FILE["company-endings"];
    /// What teams are for.
    TEAMS: ORGANISATIONS_FILE["teams"];
    /// People and bodies by what they are to others: they can do what is promised.
    OTHER_PEOPLE: PEOPLE_FILE["others"];
    /// Marks of what is not meant as it is said.
    JOKES: IRONY_FILE[""];
    /// Verbs that choose: "we will use" is a decision more than a promise.
    CHOICE_VERBS: COMMITMENT_FILE["choosing"];
    /// What people will do and systems will not.
    HUMAN_VERBS: COMMITMENT_FILE["human"];
    /// What one will do without promising anything.
    IDLE_VERBS: COMMITMENT_FILE["idle"];
    /// Words before a trouble that say that there is none, or not any more.
    DENIALS: RISK_FILE["denials"];
    /// What closes a mail, alone on a line.
    CLOSINGS: MAIL_FILE["closings"];
}

/// "Owner", "Owner(s)", "Assigned to", "Action by": the head of a column with who is to do it, in lower case.
pub(super) fn is_owner_column(head: &str) -> bool {
    let words = || head.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words().count() <= 3
        && (words().any(|word| OWNER_COLUMNS.contains(word))
            || matches!(head, "person" | "name" | "action by" | "action on"))
}
