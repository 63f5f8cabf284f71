// Texts that a page must neither run nor be turned round by, in every field that takes text.
export const MARKUP = `<script>document.body.dataset.executed=1</script><img src=x onerror=document.body.dataset.executed=1>`;
export const QUOTES = `"><svg onload=document.body.dataset.executed=1>' " \` </td></tr></table>`;
export const TEMPLATES = "{{7*7}} ${7*7} <%= 7*7 %> {% raw %} @{7*7} #{7*7}";
/** An override, with what could close an isolation before it; what stands behind it must not be turned round. */
export const OVERRIDE = "\u2069\u202Egnorw\u2067";
export const RIGHT_TO_LEFT = "שלום עולם مرحبا";
export const INVISIBLE = "\u200B\u200D\uFEFF\u2060";
export const LONG_WORD = "w".repeat(400);

const all = [MARKUP, QUOTES, TEMPLATES, OVERRIDE, RIGHT_TO_LEFT, INVISIBLE, LONG_WORD];
/** One of each kind for each field. */
export const texts = all.map((evil, n) => ({
  content: `Evil Person${n} will send the report ${evil} to Dana Whitfield by 2031-05-0${n + 1}. We decided to use ${evil} because of ${evil}.`,
  title: evil, author: evil, source: `source ${evil}`, source_id: `id ${n} ${evil}`, tags: [evil.slice(0, 200), `tag ${n}`], participants: [evil, "Dana Whitfield"],
}));
export const turns = all.map((evil, n) => ({ content: `A turn about ${evil}.`, conversation_id: `talk ${evil}`.slice(0, 400), turn_index: n, author: evil, role: "user" }));
export const graph = {
  entities: all.map((evil, n) => ({ name: `${evil} node ${n}`, entityType: evil.slice(0, 200), observations: [`It said ${evil} once.`] })),
  relations: all.map((evil, n) => ({ from: `${evil} node ${n}`, to: `${all[0]} node 0`, relationType: evil.slice(0, 200) })).slice(1),
};
