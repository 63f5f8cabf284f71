// The calls of graph_parity.mjs, and what differs from the reference server on purpose.

/** Why an answer differs, or the file. */
export const DIFFERENCES = {
  otherLines: "a file with lines of another type is refused and left whole, not written anew without them",
  twinLines: "an entity or a relation twice in a file: here they are one, and the answer says so",
  mendable: "a file with two objects run together, a byte order mark or an entity without observations: only here it can be read",
  damaged: "a damaged file: the reference server says where in a line, here it is said in which line and what it is",
  order: "the keys of objects in structured content stand in another order: objects of JSON have none; those in texts and files do",
  refusals: "a refusal is JSON with an `error`, in the text as well as in the structured content, as of every tool here; its words are the same",
  twins: "two new entities of one name in one call: the reference server stores both, against its own rule",
  twinRelations: "two equal new relations in one call: the reference server stores both, against its own rule",
  twinObservations: "an observation twice in one call: the reference server stores it twice, against its own rule",
  observations: "an entity without `observations`: the reference server refuses it, here it has none",
  arguments: "wrong arguments: the reference server says what its schema library says, here it is said in words",
  extra: "an argument that a tool does not have: the reference server ignores it, here it is named, since it was meant to do something",
  pages: "a graph of more than 200 entities, or about 48,000 characters, is answered page by page, so that no answer fills a context",
  nul: "a NUL character: Postgres text cannot hold it, so it is refused",
};

export const e = (name, entityType, ...observations) => ({ name, entityType, observations });
export const r = (from, to, relationType) => ({ from, to, relationType });
export const create = (...entities) => ["create_entities", { entities }];
const relate = (...relations) => ["create_relations", { relations }];
const note = (entityName, ...contents) => ["add_observations", { observations: [{ entityName, contents }] }];
const remove = (...entityNames) => ["delete_entities", { entityNames }];
const unrelate = (...relations) => ["delete_relations", { relations }];
const unnote = (entityName, ...observations) => ["delete_observations", { deletions: [{ entityName, observations }] }];
const search = (query) => ["search_nodes", { query }];
const open = (...names) => ["open_nodes", { names }];
export const all = ["read_graph", {}];

/** The call's answer differs by DIFFERENCES[id]; ours is `value`, or a first page of so many, or an error that says `error`. */
const differs = (id, [tool, args], expected) => [tool, args, { id, expected }];
const unknown = (name, call) => differs("refusals", call, { error: `Entity with name ${name} not found` });

const alice = e("Alice", "person", "Is a student");
const bob = e("Bob", "person", "Likes pizza");
const abc = create(e("A", "letter"), e("B", "letter"), e("C", "letter"));
const both = create(alice, bob);

export const GROUPS = {
  "empty graph": {
    "reads": [all, search("anything"), search(""), open("Alice"), open()],
    "deletes nothing": [remove("Alice"), unnote("Alice", "x"), unrelate(r("A", "B", "knows")), remove(), unrelate(), all],
    "empty lists": [create(), relate(), ["add_observations", { observations: [] }], ["delete_observations", { deletions: [] }], all],
  },
  "entities": {
    "basic": [create(alice), all],
    "the same name again": [create(alice), create(e("Alice", "robot", "Is another")), all],
    "some are there": [create(alice), create(alice, bob), all],
    "names are case-sensitive": [create(e("alice", "person")), create(e("Alice", "person")), all],
    "no observations": [create(e("Alice", "person")), all, note("Alice", "first"), all],
    "an observation twice in one entity": [create(e("Alice", "person", "x", "x")), all, note("Alice", "x", "y"), all],
    "spaces count": [create(e(" Alice ", "person", " padded "), e("Alice", "person")), open("Alice"), open(" Alice "), all],
    "unknown fields": [["create_entities", { entities: [{ ...alice, colour: "green", type: "relation" }] }], all],
    "order of fields": [["create_entities", { entities: [{ observations: ["z"], entityType: "person", name: "Zoe" }] }], all],
    "many": [create(...Array.from({ length: 60 }, (_, n) => e(`Entity ${n}`, `type ${n % 7}`, `observation ${n}`))), search("type 3"), all],
    "two of one name in one call": [differs("twins", create(alice, e("Alice", "robot")), { value: [alice] })],
    "observations left out": [
      differs("observations", ["create_entities", { entities: [{ name: "Alice", entityType: "person" }] }], { value: [e("Alice", "person")] }),
    ],
  },
  "relations": {
    "basic": [both, relate(r("Alice", "Bob", "knows")), all],
    "the same again": [both, relate(r("Alice", "Bob", "knows")), relate(r("Alice", "Bob", "knows")), all],
    "another type": [both, relate(r("Alice", "Bob", "knows")), relate(r("Alice", "Bob", "likes")), all],
    "another direction": [both, relate(r("Alice", "Bob", "knows")), relate(r("Bob", "Alice", "knows")), all],
    "types are case-sensitive": [both, relate(r("Alice", "Bob", "knows"), r("Alice", "Bob", "Knows")), all],
    "ends that do not exist": [relate(r("Nobody", "Nowhere", "lives_in")), all, search("Nobody"), open("Nobody")],
    "one end that does not exist": [create(alice), relate(r("Alice", "Nowhere", "lives_in")), open("Alice"), search("student"), all],
    "to itself": [create(alice), relate(r("Alice", "Alice", "knows")), open("Alice"), remove("Alice"), all],
    "order of fields": [["create_relations", { relations: [{ relationType: "knows", to: "B", from: "A" }] }], all],
    "two equal ones in one call": [
      both, differs("twinRelations", relate(r("Alice", "Bob", "knows"), r("Alice", "Bob", "knows")), { value: [r("Alice", "Bob", "knows")] }),
    ],
  },
  "observations": {
    "add": [create(alice), note("Alice", "Likes pizza"), all],
    "one is there": [create(alice), note("Alice", "Is a student", "Likes pizza"), all],
    "all are there": [create(alice), note("Alice", "Is a student"), all],
    "none": [create(alice), note("Alice"), all],
    "unknown entity": [unknown("Nonexistent", note("Nonexistent", "anything")), all],
    "unknown entity, case": [create(alice), unknown("alice", note("alice", "anything")), all],
    "unknown among known": [
      both,
      unknown("Nobody", [
        "add_observations", { observations: [{ entityName: "Alice", contents: ["new"] }, { entityName: "Nobody", contents: ["x"] }] },
      ]),
      all,
    ],
    "one entity in two items": [
      create(alice),
      ["add_observations", { observations: [{ entityName: "Alice", contents: ["a", "b"] }, { entityName: "Alice", contents: ["b", "c"] }] }],
      all,
    ],
    "case counts": [create(alice), note("Alice", "is a student"), all],
    "delete": [create(alice), note("Alice", "Likes pizza"), unnote("Alice", "Likes pizza"), all],
    "delete unknown ones": [create(alice), unnote("Nonexistent", "anything"), unnote("Alice", "anything", "is a student"), all],
    "delete and add again": [create(e("Alice", "person", "a", "b", "c")), unnote("Alice", "a"), note("Alice", "a"), all],
    "delete one that is there twice": [create(e("Alice", "person", "x", "y", "x")), unnote("Alice", "x"), all],
    "one twice in one call": [
      create(alice), differs("twinObservations", note("Alice", "x", "x"), { value: [{ entityName: "Alice", addedObservations: ["x"] }] }),
    ],
  },
  "deletes": {
    "relations from it go too": [both, relate(r("Alice", "Bob", "knows")), remove("Alice"), all],
    "relations to it go too": [both, relate(r("Bob", "Alice", "reports_to")), remove("Alice"), all],
    "others stay": [abc, relate(r("A", "B", "next"), r("B", "C", "next")), remove("A"), all],
    "a relation by all three": [
      abc, relate(r("A", "B", "knows"), r("A", "B", "likes")), unrelate(r("A", "B", "knows")), unrelate(r("B", "A", "likes")), all,
    ],
    "relations of a name without an entity": [relate(r("Ghost", "House", "haunts")), remove("Ghost"), all],
    "some known, some not": [both, remove("Bob", "Nobody"), all],
    "made again": [both, relate(r("Alice", "Bob", "knows")), remove("Alice"), create(alice), all, open("Alice")],
  },
  "search": {
    "by name": [create(e("John_Smith", "person")), search("john"), search("JOHN"), search("n_s"), search("n%s")],
    "by type": [create(e("X", "Person")), search("person")],
    "by observation": [create(e("X", "person", "Works at Google")), search("google"), search("AT G")],
    "relations with one end found": [create(e("A", "t", "apple"), e("B", "t", "pear")), relate(r("A", "B", "next")), search("apple")],
    "relations of a middle": [
      create(e("A", "t"), e("B", "t", "pear"), e("C", "t")), relate(r("A", "B", "x"), r("B", "C", "x"), r("A", "C", "x")), search("pear"),
    ],
    "a relation's own words are not searched": [both, relate(r("Alice", "Bob", "knows")), search("knows")],
    "nothing": [both, search("xyznonexistent")],
    "empty and blank": [both, relate(r("Alice", "Bob", "knows")), search(""), search(" "), search("  ")],
    "signs are letters": [
      create(e("50%", "share", "a_b", "c\\d"), e("500", "number", "aXb", "c/d"), e("[x]", "regex", ".*")),
      search("%"), search("_"), search("\\"), search(".*"), search("["), search("'"), search("0%"),
    ],
    "short": [create(e("ab", "x"), e("bc", "y")), search("a"), search("bc"), search("B")],
    "more than a page": [
      create(...Array.from({ length: 250 }, (_, n) => e(`Entity ${n}`, "numbered", "x"))),
      search("Entity 249"), differs("pages", search("numbered"), { page: 200 }), differs("pages", all, { page: 200 }),
    ],
    "a newline": [create(e("N", "note", "first\nsecond")), search("first\nsecond"), search("second")],
  },
  "open": {
    "one": [abc, open("A")],
    "with relations": [abc, relate(r("A", "B", "next")), open("A"), open("B"), open("C")],
    "case counts": [create(alice), open("alice")],
    "several": [abc, relate(r("A", "B", "x"), r("B", "C", "x"), r("A", "C", "x")), open("A", "C"), open("C", "A"), open("A", "A")],
    "some unknown": [abc, open("A", "Nobody"), open("Nobody")],
  },
  "unicode": {
    "scripts": [
      create(e("Zoë 🦉", "人", "日本語のメモ", "الذاكرة", "👩‍👩‍👧‍👦 family"), e("Straße", "Ort", "İstanbul", "ΟΔΟΣ")),
      search("ZOË"), search("日本"), search("STRASSE"), search("straße"), search("👩‍👧"), search("οδος"), search("istanbul"), search("i̇s"), all,
    ],
    "composed and decomposed are two": [create(e("\u00e9", "letter"), e("e\u0301", "letter")), open("e\u0301"), search("\u00c9"), all],
    "signs that JSON escapes": [
      create(e('quote " and \\', "tab\tline\nreturn\rfeed\fback\b", "\u0001\u001f\u007f\u0085 \u2028\u2029 /</script>\ufeff")), all, search("\u0001"),
    ],
    "names of the language": [
      create(e("__proto__", "constructor", "toString"), e("0", "number"), e("null", "undefined", "NaN")), relate(r("__proto__", "0", "is")),
      open("__proto__", "0"), search("proto"), all,
    ],
    "long": [create(e("n".repeat(5000), "t".repeat(3000), "o".repeat(20_000))), search("n".repeat(200)), open("n".repeat(5000))],
    "nul": [differs("nul", create(e("a\u0000b", "x")), { error: "NUL" })],
  },
  "wrong arguments": {
    "nothing is changed": [
      create(alice),
      differs("arguments", ["create_entities", {}], { error: "entities" }),
      differs("arguments", ["create_entities", { entities: [{ entityType: "person", observations: [] }] }], { error: "name" }),
      differs("arguments", ["create_relations", { relations: [{ from: "A", to: "B" }] }], { error: "relationType" }),
      differs("arguments", ["search_nodes", {}], { error: "query" }),
      differs("arguments", ["open_nodes", { names: 7 }], { error: "open_nodes" }),
      differs("extra", ["search_nodes", { query: "student", colour: "green" }], { error: "colour" }),
      all,
    ],
  },
};

const line = (value) => JSON.stringify(value);
const entity = (...of) => line({ type: "entity", ...e(...of) });
const relation = (...of) => line({ type: "relation", ...r(...of) });

/** Files that are there before the servers start. */
export const FILES = [
  {
    name: "as written by the reference server",
    content: [entity("Alice", "person", "Is a student"), entity("Bob", "person"), relation("Alice", "Bob", "knows")].join("\n"),
    steps: [all, open("Bob"), note("Bob", "Likes pizza"), all],
  },
  {
    name: "blank lines and a newline at the end",
    content: `\n${entity("Alice", "person", "x")}\n\n  \n${relation("Alice", "Bob", "knows")}\n`,
    steps: [all, create(e("Bob", "person")), all],
  },
  {
    name: "relations before entities, Windows line ends, other spacing",
    content: `${relation("Alice", "Bob", "knows")}\r\n{ "observations": ["x"], "name": "Alice", "type": "entity", "entityType": "person" }\r\n`,
    steps: [all, create(e("Bob", "person")), all],
  },
  {
    name: "unknown fields",
    content: `{"type":"entity","name":"Alice","entityType":"person","observations":[],"extra":1}`,
    steps: [all, create(e("Bob", "person")), all],
  },
  {
    name: "lines of another type",
    content: `{"type":"comment","text":"mine"}\n${entity("Alice", "person", "x")}`,
    steps: [differs("otherLines", all, { error: "its type is 'comment'" })],
  },
  {
    name: "an entity and a relation twice",
    content: [entity("A", "t", "x"), entity("A", "t", "y"), relation("A", "A", "is"), relation("A", "A", "is")].join("\n"),
    steps: [differs("twinLines", all, { value: { entities: [e("A", "t", "x", "y")], relations: [r("A", "A", "is")] }, notice: "'A' on line 2" })],
  },
  {
    name: "two objects run together, and a byte order mark",
    content: `\ufeff${entity("A", "t", "x")}${entity("B", "t")}\n${relation("A", "B", "is")}`,
    steps: [differs("mendable", all, { value: { entities: [e("A", "t", "x"), e("B", "t")], relations: [r("A", "B", "is")] } })],
  },
  {
    name: "an entity without observations",
    content: `{"type":"entity","name":"A","entityType":"t"}`,
    steps: [differs("mendable", all, { value: { entities: [e("A", "t")], relations: [] } })],
  },
  {
    name: "cut off",
    content: `${entity("A", "t", "x")}\n{"type":"entity","name":"B"`,
    steps: [differs("damaged", all, { error: "Line 2 cannot be read" }), differs("damaged", create(e("C", "t")), { error: "Line 2" })],
  },
  { name: "empty", content: "", steps: [all, create(e("Bob", "person")), all] },
];
