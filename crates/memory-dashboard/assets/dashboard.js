// What pages do where scripts run. All of it is an addition: forms and links work without.
const root = document.documentElement;
root.classList.add("scripted");
const csrf = () => document.body.dataset.csrf;

// Times in the reader's own zone.
// As the server writes them.
const day = { day: "numeric", month: "short" };
const moments = new Intl.DateTimeFormat("en-GB", { ...day, year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
function localise(within) {
  for (const time of within.querySelectorAll("time[datetime]:not(.day):not(.ago)")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title = time.textContent + " UTC";
    time.textContent = moments.format(at);
  }
}

function menu() {
  const button = document.querySelector(".menu");
  button?.addEventListener("click", () => {
    const open = document.querySelector(".side").classList.toggle("open");
    button.setAttribute("aria-expanded", String(open));
  });
}

// "/" goes to the search field, as long as nobody writes.
function shortcuts() {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select")) return;
    const field = document.querySelector("[data-focus]");
    const link = document.querySelector('.side nav a[href$="/search"]');
    event.preventDefault();
    if (field) field.focus();
    else if (link) link.click();
  });
}

function selection(form) {
  const boxes = () => [...form.querySelectorAll("tbody input[name=id]")];
  const all = form.querySelector("[data-all]");
  const most = Number(form.dataset.selection);
  const said = form.querySelector("[data-selected]");
  const buttons = form.querySelectorAll(".bulk button");
  const show = () => {
    const chosen = boxes().filter((box) => box.checked).length;
    const isMore = chosen > most;
    said.textContent = chosen ? `${chosen} selected${isMore ? `; at most ${most} at a time` : ""}` : "";
    all.checked = chosen > 0 && chosen === boxes().length;
    all.indeterminate = chosen > 0 && !all.checked;
    for (const button of buttons) button.disabled = chosen === 0 || isMore;
  };
  all.addEventListener("change", () => {
    for (const box of boxes()) box.checked = all.checked;
    show();
  });
  form.addEventListener("change", show);
  form.addEventListener("htmx:afterSwap", show);
  show();
}

function mustBe(field) {
  const button = field.form.querySelector("button[type=submit]");
  const check = () => { button.disabled = field.value.trim() !== field.dataset.mustBe; };
  field.addEventListener("input", check);
  check();
}

// Files, one after the other. A request of this kind tells how much of it is sent.
function send(to, file, sent) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", to);
    const headers = {
      "X-CSRF-Token": csrf(),
      "X-File-Name": encodeURIComponent(file.name.toWellFormed()),
      "Content-Type": "application/octet-stream",
      Accept: "application/json",
    };
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) sent(event.loaded / event.total); });
    request.addEventListener("error", () => reject(new Error("the server was not reached")));
    request.addEventListener("load", () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* A page, where a list was asked for. */ }
      if (request.status < 300) resolve(answer);
      else reject(new Error(answer.error || `it was refused (${request.status})`));
    });
    request.send(file);
  });
}

function line(list, name) {
  const item = document.createElement("li");
  const label = document.createElement("bdi");
  const state = document.createElement("span");
  label.textContent = name;
  state.textContent = "waits";
  item.append(label, state);
  list.append(item);
  return { label, state };
}

function drop(zone) {
  const to = zone.dataset.import || zone.dataset.archive;
  const list = zone.querySelector(".files");
  const bar = zone.querySelector("progress");
  const take = async (files) => {
    const lines = [...files].map((file) => ({ file, ...line(list, file.name) }));
    const whole = lines.reduce((bytes, { file }) => bytes + file.size + 1, 0);
    let before = 0;
    bar.hidden = false;
    for (const { file, label, state } of lines) {
      const show = (share) => {
        bar.value = (before + share * (file.size + 1)) / whole;
        state.textContent = share < 1 ? `is sent, ${Math.round(share * 100)} %` : "is stored …";
      };
      show(0);
      try {
        const answer = await send(to, file, show);
        if (answer.page) {
          const link = document.createElement("a");
          link.href = answer.page;
          link.textContent = file.name;
          label.replaceChildren(link);
        }
        state.textContent = answer.said || (answer.replaced ? "replaced" : answer.created ? "remembered" : "was there already");
        state.className = "ok";
      } catch (error) {
        state.textContent = error.message;
        state.className = "failed";
      }
      before += file.size + 1;
      bar.value = before / whole;
    }
  };
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files);
  });
  zone.querySelector("input[type=file]").addEventListener("change", (event) => {
    take(event.target.files);
    event.target.value = "";
  });
}

// The state of the memory, as the server sends it.
function live(place) {
  let source;
  const open = () => {
    source = new EventSource(place.dataset.live);
    source.addEventListener("state", (event) => {
      // Nobody's focus is taken away.
      if (place.contains(document.activeElement)) return;
      place.innerHTML = event.data;
      localise(place);
      place.dataset.updated = String(Number(place.dataset.updated || 0) + 1);
    });
  };
  open();
  document.addEventListener("visibilitychange", () => {
    source.close();
    if (!document.hidden) open();
  });
}

function load(src) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = src;
    script.addEventListener("load", resolve);
    script.addEventListener("error", reject);
    document.head.append(script);
  });
}

async function growth(place) {
  const [answer] = await Promise.all([
    fetch(place.dataset.growth, { headers: { Accept: "application/json" } }).then((response) => response.json()),
    load(new URL("uplot.js", import.meta.url).href),
  ]);
  const byDay = new Map((answer.days || []).map(([day, texts, events]) => [day, [texts, events]]));
  const DAY = 86400;
  const today = Math.floor(Date.now() / 1000 / DAY) * DAY;
  const days = Array.from({ length: 90 }, (_, n) => today - (89 - n) * DAY);
  const data = [days, days.map((day) => byDay.get(day)?.[0] ?? 0), days.map((day) => byDay.get(day)?.[1] ?? 0)];
  const shortDay = new Intl.DateTimeFormat("en-GB", { ...day, timeZone: "UTC" });
  const longDay = new Intl.DateTimeFormat("en-GB", { ...day, year: "numeric", timeZone: "UTC" });
  const counted = (_, n) => n === null ? "" : n.toLocaleString("en-GB").replaceAll(",", "\u202f");
  let plot;
  const draw = () => {
    plot?.destroy();
    const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
    const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") }, font: "12px system-ui" };
    const bars = window.uPlot.paths.bars({ size: [0.7, 24] });
    place.replaceChildren();
    plot = new window.uPlot({
      width: place.clientWidth,
      height: 240,
      cursor: { drag: { x: false, y: false } },
      tzDate: (at) => window.uPlot.tzDate(new Date(at * 1000), "UTC"),
      scales: { y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] } },
      axes: [{ ...axis, space: 70, values: (_, days) => days.map((at) => shortDay.format(at * 1000)) }, { ...axis, size: 52, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000, 100000] }],
      series: [
        { label: "Day", value: (_, at) => at === null ? "" : longDay.format(at * 1000) },
        { label: "Texts", value: counted, stroke: colour("--accent"), fill: colour("--accent"), paths: bars, points: { show: false } },
        { label: "Events", value: counted, stroke: colour("--node-written"), width: 2, points: { show: false } },
      ],
    }, data, place);
    place.dataset.drawn = "true";
  };
  draw();
  let waiting;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(draw, 150); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

menu();
shortcuts();
localise(document);
document.addEventListener("htmx:afterSettle", () => localise(document));
document.querySelectorAll("[data-selection]").forEach(selection);
document.querySelectorAll("[data-must-be]").forEach(mustBe);
document.querySelectorAll("[data-import], [data-archive]").forEach(drop);
document.querySelectorAll("[data-live]").forEach(live);
document.querySelectorAll("[data-growth]").forEach((place) => { growth(place).catch(() => {}); });
if (document.querySelector("[data-graph]")) import("./graph.js").then((graph) => graph.draw(document.querySelector("[data-graph]")));
