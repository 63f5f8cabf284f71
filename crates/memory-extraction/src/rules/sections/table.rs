//! The headings and labels that are known, by what they promise.

use memory_core::event::Category;

use super::Section;

/// A section and its headings, parted by `|`.
type Row = (Section, &'static str);

pub(super) const TABLE: [Row; 11] = [
    (
        Section::Open,
        "\
         |notes|note|team|summary|scope|timeline|why|root cause|what went well|what happened|consequences|discussion|details|\
         impact|good|positive|minutes|any other business|aob|updates|update|news|general|other|misc|miscellaneous|\
         observations|findings|results|for the future|remarks|staffing|budget|finance|finances|",
    ),
    (
        Section::Prior(Category::Stakeholder),
        "\
         |roles|responsibilities|who is who|who's who|new faces|joiners and leavers|new people|staff changes|\
         personnel|joiners|leavers|team changes|people changes|appointments|",
    ),
    (
        Section::Prior(Category::Commitment),
        "\
         |action items|action item|actions|action points|action|next steps|next step|todo|todos|to do|to-do|\
         to-dos|to dos|tasks|task list|follow-ups|follow ups|followups|follow up|follow-up|assignments|\
         commitments|open tasks|owners|actions and owners|action items and owners|ai|deliverables|\
         open action items|new action items|homework|who does what|jobs|to be done|next actions|action list|\
         agreed actions|who will do what|assigned|things to do|still to do|to-do list|todo list|orders|errands|\
         follow-up actions|",
    ),
    (
        Section::Prior(Category::Decision),
        "\
         |decisions|decision|decisions made|key decisions|agreed|agreements|resolutions|resolution|resolved|\
         decided|decision outcome|outcome|decisions taken|what we decided|approved|approvals|final decision|\
         conclusions|ruling|rulings|verdict|determination|we agreed|what was decided|the decision|\
         decision and reasons|conclusion|it was resolved|resolves|orders made|what we agreed|agreed today|\
         decisions and votes|council decision|decision taken|",
    ),
    (
        Section::Prior(Category::QualityRisk),
        "\
         |risks|risk|issues|issue|blockers|blocker|blocked|concerns|concern|known issues|problems|impediments|\
         risks and issues|risks & issues|risks/issues|risks and blockers|issues and risks|blockers and risks|\
         risks and concerns|key risks|open risks|bugs|quality issues|challenges|risks / blockers|\
         blockers / risks|risks and mitigations|top risks|what went wrong|incidents|worries|trouble|troubles|\
         not completed|not done|pain points|waiting|waiting for|waiting on|known problems|went wrong|\
         what did not go well|what didn't go well|went badly|what went badly|lowlights|issues found|defects|\
         defects found|snags|snag list|damage|on hold|stuck|open issues|open problems|needs attention|worrying|\
         worry|what hurt|what hurts|delays|delayed|missed|setbacks|not so good|to improve|bad|bad news|warnings|",
    ),
    (
        Section::Prior(Category::Execution),
        "\
         |done|completed|shipped|accomplishments|accomplished|achievements|delivered|finished|completed this week|\
         done this week|shipped this week|wins|what we did|completed work|completed items|completed tasks|\
         last week|released|yesterday|highlights and wins|what was done|accomplished this week|closed|\
         resolved issues|milestones reached|what we have done|what we've done|done so far|achieved|merged|\
         done since last time|done today|did|new since last week|finished this week|this month|changes made|\
         work done|work carried out|measures taken|fixed|added|",
    ),
    (
        Section::Prior(Category::Feedback),
        "\
         |feedback|customer feedback|user feedback|review comments|feedback received|what guests said|comments|\
         reviews|what people said|what we heard|reactions|client feedback|guest comments|parent feedback|\
         what they said|voices|feedback from users|feedback from customers|opinions|reviewer comments|liked|\
         disliked|kudos|what people liked|",
    ),
    (
        Section::Prior(Category::Change),
        "\
         |changes|change log of scope|scope changes|changes to plan|plan changes|schedule changes|changed|\
         what changed|what's changed|what has changed|what is different|amendments|deviations|changes of plan|\
         change of plan|plan change|removed|deprecated|moved|now different|new rules|",
    ),
    (
        Section::Planned,
        "\
         |next week|planned|plan|plans|upcoming|planned for next week|plan for next week|today|\
         plans for next week|up next|this week|goals for next week|priorities for next week|next|next sprint|\
         next month|in progress|doing|what next|what's next|what comes next|ahead|coming up|outlook|\
         plan for tomorrow|tomorrow|planned next|further plan|",
    ),
    (
        Section::People,
        "\
         |attendees|participants|present|in attendance|attending|invitees|people|team members|absent|apologies|\
         regrets|who|members sitting|members present|panel|in the chair|sitting|chaired by|here|there|\
         on the call|guests|with|w/|",
    ),
    (
        Section::Skip,
        "\
         |options|options considered|considered options|alternatives|alternatives considered|agenda|background|\
         context|motivation|problem statement|pros|cons|pros and cons|pros and cons of the options|references|\
         links|appendix|glossary|questions|open questions|decision drivers|ideas|parking lot|out of scope|\
         non-goals|introduction|ingredients|instructions|directions|method|usage|installation|\
         example|examples|table of contents|contents|license|faq|about|requirements|prerequisites|resources|\
         further reading|related|see also|purpose|objective|objectives|definitions|mitigations|mitigation|\
         proposals|getting started|configuration|how to|steps|steps to reproduce|small talk|nice to have|\
         maybe later|ideas for later|for later|wishes|wish list|options we considered|what was asked|\
         the question|question|rejected options|whereas|recitals|preamble|what we considered|considered|",
    ),
];
