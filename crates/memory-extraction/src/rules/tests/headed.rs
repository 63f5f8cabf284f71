//! Projects, firms and bodies by headings, by tables and by what stands beside them.

use memory_core::entity::EntityType;

use super::things::claim;

#[test]
fn what_heads_a_part_and_is_used_in_it_is_a_project() {
    claim(
        EntityType::Project,
        &[
            (
                "2. Every Door a Garden\nShe spoke of the first year of Every Door a Garden.\n",
                &["Every Door a Garden"],
            ),
            ("25/033 The Blue Corridor\n\nThe hedge along the Blue Corridor is in.\n", &["Blue Corridor"]),
            ("4. Open the Gate\n\nThe lunches under Open the Gate are full.\n", &["Open the Gate"]),
            (
                "SILVER HERON - places, week 3\n\nA round-up for SILVER HERON after Monday.\n",
                &["SILVER HERON"],
            ),
            ("2. Ringing Far appeal\n\nThe account was opened on Monday.\n", &["Ringing Far"]),
            ("SALT HERON – tomorrow is turned around\n\nIt will rain.\n", &["SALT HERON"]),
            ("# quibbet\n\nA small tool.\n\n## Install\n\nCopy it.\n", &["quibbet"]),
            // What is only a heading, a person, a place or a common word is none.
            ("2. Action Items\n\nThe action items are old, and Action Items are read first.\n", &[]),
            ("Callum Stone\n\nWe asked Callum Stone about it.\n", &[]),
            ("Mill Lane\n\nThe bus stops in Mill Lane.\n", &[]),
            ("Blue Sky Thinking\n\nNobody came.\n", &[]),
        ],
    );
}

#[test]
fn names_in_capitals_before_work_are_projects() {
    claim(
        EntityType::Project,
        &[
            ("Short check before the QUILLGRID cutover of May.", &["QUILLGRID"]),
            ("Who writes what for the QUILLNET renewal?", &["QUILLNET"]),
            ("We had the launch of QUILLARI on Monday. The data for QUILLARI is late.", &["QUILLARI"]),
            ("PEPTIDE-4 is late. We had the launch of PEPTIDE-4.", &["PEPTIDE-4"]),
            ("The EU project QUILLWAVE ends in May.", &["QUILLWAVE"]),
            ("It is URGENT. All of it is URGENT for us. MONEY: none left.", &[]),
            ("The OTHER release and the NEXT release are late.", &[]),
        ],
    );
}

#[test]
fn campaigns_programs_and_titles_are_projects() {
    claim(
        EntityType::Project,
        &[
            ("All of it goes to Row for Reuben this year.", &["Row for Reuben"]),
            ("Seats for Schools. Ten of them have answered.", &["Seats for Schools"]),
            ("He was Director for Sales and asked for May, for Monday.", &[]),
            ("The Golden Acre scheme opens in May.", &["Golden Acre"]),
            ("\"The Night Baker\", a puppet theatre for children.", &["The Night Baker"]),
            ("The 'Read Together' campaign begins on Monday.", &["Read Together"]),
            (
                "The musical Redstart opens, and the exhibition Clay and Fire too.",
                &["Redstart", "Clay and Fire"],
            ),
            ("Rehearsals for Harvest Moon begin on Monday.", &["Harvest Moon"]),
            (
                "The harbour lights restoration is late, and so is the new project.",
                &["harbour lights restoration"],
            ),
            ("Project Swift Lane is late.", &["Swift Lane"]),
            ("A Bed for Ben\nOur appeal has reached its goal.", &["A Bed for Ben"]),
            ("He said \"The End\" and left.", &[]),
            ("A certificate of quillbridge, our gateway to the bank, had expired.", &["quillbridge"]),
            ("The rest belongs to Orvane, the rewrite of the gateway.", &["Orvane"]),
            ("Zork cut Orvane 2.8-rc1 on Monday, and Orvane is out.", &["Orvane"]),
            ("He pushed the new format to quillfall/core today.", &["quillfall/core"]),
            ("We replace the job queue in quillfall/dispatcher.", &["quillfall/dispatcher"]),
            ("The read/write head and the input/output in black/white are old.", &[]),
        ],
    );
}

#[test]
fn a_list_of_projects_names_them() {
    claim(
        EntityType::Project,
        &[
            (
                "Programmes\n- Second Harvest: 40 families\n- Warm Rooms: open in November\n",
                &["Second Harvest", "Warm Rooms"],
            ),
            ("Errands\n- Second Harvest: 40 families\n", &[]),
        ],
    );
}

#[test]
fn items_with_a_state_and_no_deadline_are_projects() {
    let states = "| Item | Lead | Status |\n|---|---|---|\n| Cycle spur | Alice Chen | Amber |\n| Lamp works | Bob Reyes | Red |\n";
    let tasks =
        "| Item | Lead | Status | Due |\n|---|---|---|---|\n| Order lamps | Alice Chen | open | 3 May |\n";
    claim(EntityType::Project, &[(states, &["Cycle spur", "Lamp works"]), (tasks, &[])]);
}

#[test]
fn bodies_are_told_by_their_kind_their_country_and_who_comes_from_them() {
    claim(
        EntityType::Org,
        &[
            ("The Barvos group says it loses fish.", &["Barvos group"]),
            ("We met the inspector from Zelkit on site.", &["Zelkit"]),
            ("No customer of Quillshop could pay.", &["Quillshop"]),
            ("A letter came from QuillPlay UK today.", &["QuillPlay UK"]),
            ("The Quill Resources Board will visit us.", &["Quill Resources Board"]),
            ("He came home to St Brigid's on Monday.", &["St Brigid's"]),
            (
                "Fish. Marrable's didn't bring it, and the timber from Hartley's tomorrow is late.",
                &["Marrable's", "Hartley's"],
            ),
            ("Stand-up of team Zelkit today", &["Zelkit"]),
            (
                "We saw it with Mrs. Szabo from Zelkit. The engineer (Tan Wei, Quillstone) came.",
                &["Zelkit", "Quillstone"],
            ),
            ("QUILL OVERLAND LTD\nMinutes of a meeting\n", &["QUILL OVERLAND LTD"]),
            ("QUILL ROWING CLUB – decisions\n", &["QUILL ROWING CLUB"]),
            ("Purchasing sends the notice by Friday.", &["Purchasing"]),
            ("Customer Care will ring the ten people.", &["Customer Care"]),
            ("The works department will clean the drain.", &["works department"]),
            ("A letter came from Ana Bell from Brightwater yesterday.", &["Brightwater"]),
            ("It was late. Brightwater has quoted 4,000 for it.", &["Brightwater"]),
            ("Then I will ring the Board of Directors.", &[]),
            ("The Monday club and the WhatsApp group met in a Berlin club.", &[]),
        ],
    );
}

#[test]
fn a_body_is_meant_by_what_it_is_and_a_firm_by_its_first_word() {
    let text = "Zelkit Dairy bought it. Zelkit will bring it on Friday.\n\nThe Orvane Council met. The Council undertakes to pay.";
    claim(EntityType::Org, &[(text, &["Zelkit Dairy", "Orvane Council"])]);
    claim(EntityType::Person, &[(text, &[])]);
    claim(EntityType::Person, &[("Walkers told us that it was kind. Drivers agreed.", &[])]);
}
