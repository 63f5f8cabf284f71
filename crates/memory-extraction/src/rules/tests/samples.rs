//! Documents with invented people, one of each kind.

pub(super) const MEETING: &str = "\
# Platform sync — 2024-03-15

Attendees: Alice Chen (PM), Bob Martinez, Priya Raman (QA)

## Agenda
- Migration status
- Will we hire?

## Discussion
Alice Chen committed to deliver the API design by Friday. Bob is waiting on schema review from Alice, which may delay \
the migration. Should we move the launch? Priya reported that the nightly build keeps failing since Tuesday.

## Decisions
- We will use PostgreSQL for the event store.
- Postpone the mobile beta to Q3

## Action Items
- [ ] @bob to draft the rollback plan by March 21st EOD
- Alice: finish the API design by Friday
- [x] Priya Raman – set up the staging cluster
- Update the onboarding guide (owner: Priya, due next Friday)
- None

## Risks
- Vendor contract for Project Apollo is not signed yet
";

pub(super) const MAIL: &str = "\
From: Nadia Osei <nadia.osei@northwind.example>
To: Tomás García <tomas.garcia@northwind.example>
Cc: team@northwind.example
Date: Tue, 12 March 2024 09:14:00 +0000
Subject: Re: Invoice export

Hi Tomás,

I fixed the rounding bug in BILL-482 yesterday and deployed v2.3.1 to staging. I'll send the release notes by Thursday.
Could we talk about the budget? Maybe we should hire someone. Please review the export spec before Friday.
If the vendor agrees, we will extend the contract.

Best regards,
Nadia
Head of Billing

On Mon, 11 Mar 2024 at 17:02, Tomás García wrote:
> I will rewrite the whole importer by Wednesday.
> We decided to cancel the audit.
";

pub(super) const CHAT: &str = "\
[10:02] Dana Ortiz: morning! Kim, can you send the load-test report by Friday?
[10:03] Kim Larsen: sure, will do
[10:05] Dana Ortiz: let's go with option B for the cache then
[10:06] Kim Larsen: agreed
[10:09] Kim Larsen: I'll write the migration script tomorrow
[10:11] Dana Ortiz: lol, as if I would ever ship that on a Friday
[10:12] Kim Larsen: Could you imagine?
";

pub(super) const RECORD: &str = "\
# ADR 12: Message broker

Date: 2024-02-01
Status: Accepted
Deciders: Ingrid Holm, Yusuf Demir

## Context
We need a broker. Kafka was chosen elsewhere.

## Options considered
- NATS: we will use it if latency matters
- RabbitMQ

## Decision
We will use NATS JetStream as the message broker.
Ingrid Holm will write the migration guide by the end of Q2.

## Risks
- The team has no experience with operating JetStream.
";

pub(super) const STATUS: &str = "\
Weekly status, Team Falcon, 8 March 2024
Author: Hana Suzuki

Done:
- Shipped the search filters on Tuesday
- Marek Novak: migrated the billing database
- Released v3.1.0

Blockers:
- Waiting on security review from the Platform team
- No other blockers

Next week:
- Hana: run the load test by Wednesday

Travel budget: reduced from 5k to 3k
The launch was postponed from April to June.
Lucía Ortega joined the team as product owner on Monday.
Customers complained about the slow export.
Marek paired with Lucía Ortega on the importer.
";

pub(super) const TABLE: &str = "\
## Follow-up

| Action item | Owner | Due |
|---|---|---|
| Renew the TLS certificates | Omar Haddad | 2024-04-02 |
| Prepare the board slides | Freya Lind | TBD |
";

pub(super) const NOTHING: [(&str, &str); 10] = [
    (
        "newsletter",
        "The Weekly Crumb newsletter\n\nHello readers! This week we launched our spring collection and we will share ten new \
         recipes. Emma Stone finished first in our contest. Subscribe now and save 20%.\nView in browser | Unsubscribe",
    ),
    (
        "recipe",
        "Garlic bread\n\nIngredients:\n- 2 tablespoons butter\n- 4 cloves garlic\n\nPreheat the oven to 200 degrees. You will \
         finish the dough first. Mixed butter is added once the garlic is done. Bake until golden.",
    ),
    (
        "python",
        "import os\nfrom jobs import Queue\n\ndef deploy(target):\n    # TODO: Alice will fix the retry by Friday\n    \"\"\"We \
         decided to ship it.\"\"\"\n    if not target:\n        raise ValueError('bug')\n    return Queue(target).run()\n",
    ),
    (
        "log",
        "2024-03-15T10:00:01Z INFO worker: deployed release 42\n2024-03-15T10:00:02Z ERROR worker: job failed, outage\n\
         2024-03-15T10:00:03Z WARN Bob will retry by tomorrow\n",
    ),
    ("question", "Should we use Kafka? Did Alice finish the report? Will Bob send the slides by Friday?"),
    (
        "hypothetical",
        "If Alice Chen finishes the draft, Bob Reyes would review it. Maybe we should ship on Monday. Perhaps Dana Ortiz will help.",
    ),
    ("sarcasm", "Oh sure, Alice will totally fix it by yesterday. Yeah right, we shipped it."),
    (
        "negation",
        "Alice Chen did not finish the report. Bob Reyes won't send the slides. We never decided on the name. There are no blockers.",
    ),
    (
        "article",
        "Caching reduces latency. A cache may fail when the upstream is down. Jay Kreps created Kafka at LinkedIn in 2011; it was \
         adopted widely. Martin Kleppmann wrote a book about logs. Researchers found that the approach is slow for small writes, \
         and there is a risk of stale reads. Many teams have since released tools of this kind.",
    ),
    (
        "fiction",
        "Elena closed the door and finished her letter. \"I will leave at dawn,\" she whispered. He laughed. \"You promised to \
         stay,\" he said. She took his hand, and they decided to walk to the river together.",
    ),
];
