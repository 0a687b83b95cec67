"use strict";
const key = document.querySelector("meta[name=studio-key]").content;
const $ = (what, of = document) => of.querySelector(what);
const all = (what, of = document) => [...of.querySelectorAll(what)];
const later = (ms) => new Promise((done) => setTimeout(done, ms));
let turn = 0; // of the last refresh: an older answer never replaces a newer one
let waiting = 0, watching = false;

async function ask(url, body) {
  waiting += 1;
  watch();
  try {
    const post = body !== undefined;
    const headers = { "X-Studio-Key": key, ...(post && { "Content-Type": "application/json" }) };
    return await fetch(url, { method: post ? "POST" : "GET", headers, body: post ? JSON.stringify(body) : undefined });
  } finally {
    waiting -= 1;
  }
}

function say(text) {
  $("#said").textContent = text;
}

// ---- parts of a screen
async function load(section, url, body, valid = () => true) {
  section.setAttribute("aria-busy", "true");
  let text;
  try {
    text = await (await ask(url, body)).text();
  } catch {
    text = '<p class="failed" role="alert">The studio does not answer: it has ended.</p>';
  }
  if (!valid()) return false;
  section.innerHTML = text;
  section.removeAttribute("aria-busy");
  const failed = $("[data-control]", section);
  const control = failed && failed.dataset.control && document.getElementById(failed.dataset.control);
  if (control) control.focus();
  const source = $("[data-source]", section);
  if (source) $("#source").textContent = source.dataset.source;
  if ($(".roles", section)) watchRows();
  all("[data-then]", section).forEach((each) => load(each, each.dataset.then, undefined, () => each.isConnected)); // meanwhile
  return true;
}

async function refresh(sections) {
  const mine = ++turn;
  sections.forEach((each) => each.setAttribute("aria-busy", "true"));
  for (const each of sections) {
    if (!(await load(each, each.dataset.load, undefined, () => mine === turn))) return;
  }
  await load($("#verdict"), "/data/verdict", undefined, () => mine === turn);
}

async function run(button) {
  const into = button.dataset.into;
  const section = into ? document.getElementById(into) : button.closest("[data-load]");
  button.disabled = true;
  if ("stays" in button.dataset) section.dataset.load = button.dataset.run; // asked for once, shown after each choice
  if (into) { await load(section, button.dataset.run); button.disabled = false; return; }
  await flush();
  const mine = ++turn;
  if (!(await load(section, button.dataset.run, undefined, () => mine === turn))) return;
  const parts = all("[data-load][data-again]").filter((each) => each !== section);
  const follows = (each) => "follow" in button.dataset && section.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
  await refresh(parts.filter((each) => follows(each) || each.getAttribute("aria-busy"))); // what it held up too
}

async function post(form, button) {
  const body = {};
  for (const each of all("input, select, textarea", form)) {
    body[each.name] = each.type === "checkbox" ? each.checked : each.value;
  }
  await flush();
  const section = form.dataset.into || button?.dataset.into;
  await load(section ? document.getElementById(section) : (button || form).closest("[data-load]"), button?.dataset.post || form.dataset.post, body);
  if (!section) await refresh(all("[data-load]"));
}

// ---- progress, and stop
async function watch() {
  if (watching) return;
  watching = true;
  await later(300);
  while (waiting) {
    const now = await fetch("/data/progress", { headers: { "X-Studio-Key": key } }).then((answer) => answer.json()).catch(() => ({}));
    $("#running").hidden = !now.number;
    $("#running progress").value = now.total ? Math.min(now.done / now.total, 1) : 0;
    const share = now.total ? ` ${Math.floor((100 * Math.min(now.done, now.total)) / now.total)}%` : "";
    $("#doing").textContent = now.number ? `${now.call}: ${now.of || "…"} ${now.note || ""}${share}, ${now.seconds} s` : "";
    $("#stop").dataset.number = now.number || 0;
    await later(300);
  }
  $("#running").hidden = true;
  watching = false;
}

// ---- choices: sent one after another, a moment after the last
const queue = new Map();
let timer, sending = Promise.resolve();

function choose(name, value, columns = [], control = null) {
  queue.set(`${name} ${columns.join("\n")}`, { name, value, columns, control });
  turn += 1; // what is on its way is out of date
  all("[data-load][data-again]").forEach((each) => each.setAttribute("aria-busy", "true"));
  clearTimeout(timer);
  timer = setTimeout(() => flush().then((changed) => changed && refresh(all("[data-load][data-again]"))), 200);
}

function flush() {
  clearTimeout(timer);
  const mine = [...queue.values()];
  queue.clear();
  sending = sending.then(async () => {
    for (const { name, value, columns, control } of mine) {
      const answer = await ask("/choice", { name, value, columns });
      const said = await answer.json();
      say(said.error || "");
      if (said.error && control) {
        const section = control.matches("select[id]") ? control.closest("[data-load]") : null;
        if (section) await load(section, section.dataset.load); // it shows what still holds
        (section ? document.getElementById(control.id) : control).focus();
      }
      if (said.choice) document.body.dataset.choice = said.choice;
      for (const [id, text] of Object.entries(said.texts || {})) {
        if (document.getElementById(id)) document.getElementById(id).textContent = text;
      }
    }
    return mine.length > 0;
  });
  return sending;
}

// ---- rows of Roles: those that were never in view are not confirmed
const unseen = new Set(); // columns
const rowsOf = (which = "") => all(`.roles tbody tr${which}`);
const shownRows = () => rowsOf(":not([hidden])");
const columnsOf = (rows) => rows.map((row) => row.dataset.column);
const figure = (number) => number.toLocaleString("en");
const watcher = new IntersectionObserver((found) => {
  found.forEach(({ target, intersectionRatio }) => {
    if (intersectionRatio >= 0.6) { unseen.delete(target.closest("tr").dataset.column); watcher.unobserve(target); }
  });
  countUnseen();
}, { threshold: 0.6, rootMargin: "-150px 0px 0px 0px" });

function watchRows() {
  unseen.clear();
  watcher.disconnect();
  rowsOf().forEach((row) => { if (!$(".read", row).checked) { unseen.add(row.dataset.column); watcher.observe($(".role", row)); } });
  countUnseen();
  filter();
}

function countUnseen() {
  const left = unseen.size, note = $("#unseen");
  if (note) note.textContent = left ? `${figure(left)} not in view yet: scroll down.` : "";
}

function refuseUnseen(rows) {
  const left = rows.filter((row) => unseen.has(row.dataset.column));
  if (!left.length) return false;
  say(`${figure(left.length)} of these columns ${left.length === 1 ? "was" : "were"} not in view yet. Look at every row, then confirm.`);
  left[0].scrollIntoView({ block: "center", inline: "nearest" });
  return true;
}

function setRole(rows, role, blind = []) { // blind: rows that were not in view, so that their role is set and not confirmed
  const changed = rows.some((row) => row.dataset.role !== role);
  [...rows, ...blind].forEach((row) => { $(".role", row).value = row.dataset.role = role; });
  rows.forEach((row) => { $(".read", row).checked = true; unseen.delete(row.dataset.column); });
  countUnseen();
  if (blind.length) choose("unseen_role", role, columnsOf(blind));
  if (rows.length) choose(changed ? "role" : "read", changed ? role : true, columnsOf(rows));
}

function setTicked() {
  const role = $("#ticked-role").value, rows = all(".roles .selected:checked").map((each) => each.closest("tr"));
  if (!role) { say("Choose a role first."); return $("#ticked-role").focus(); }
  setRole(rows.filter((row) => !unseen.has(row.dataset.column)), role, rows.filter((row) => unseen.has(row.dataset.column)));
  rows.forEach((row) => { $(".selected", row).checked = false; });
  $("#ticked-role").value = "";
  countTicked();
}

function tickShown(ticked) {
  shownRows().forEach((row) => { $(".selected", row).checked = ticked; });
  countTicked();
}

function countTicked() {
  const ticked = all(".roles .selected:checked"), shown = shownRows();
  const hidden = ticked.filter((each) => each.closest("tr").hidden).length;
  $("#set-ticked").disabled = !ticked.length;
  $("#set-ticked").textContent = ticked.length ? `Set ${figure(ticked.length)}${hidden ? `, ${figure(hidden)} not shown` : ""}` : "Set";
  $("#all").checked = shown.length > 0 && ticked.length - hidden === shown.length;
}

function filter() {
  const text = $("#find").value.toLowerCase(), role = $("#filter").value, suggested = $("#suggestion").value, rows = rowsOf();
  const fits = (row) => `${row.dataset.column}\n${row.dataset.label}`.toLowerCase().includes(text) &&
    (!role || (role === "unread" ? !$(".read", row).checked : row.dataset.role === role)) && (!suggested || row.dataset.suggested === suggested);
  rows.forEach((row) => { row.hidden = !fits(row); });
  const shown = shownRows(), some = shown.length < rows.length;
  if (shown.length && !shown.some((row) => row.tabIndex === 0)) rows.forEach((row) => { row.tabIndex = row === shown[0] ? 0 : -1; });
  $("#shown").textContent = some ? `${figure(shown.length)} of ${figure(rows.length)} columns are shown.` : "";
  $("#confirm-all").textContent = some ? `Confirm ${figure(shown.length)} shown (c)` : `Confirm all ${figure(rows.length)} (c)`;
  countTicked();
}

document.addEventListener("input", ({ target }) => {
  if (target.id === "find") return filter();
  if (target.dataset.mirror) {
    const control = document.getElementById(target.dataset.mirror);
    control.value = target.value;
    return choose(control.name, control.value, [], control);
  }
  if (target.type !== "number" || !target.name || target.value === "") return;
  if (target.id === "k") $("#k-slider").value = target.value;
  choose(target.name, target.value, target.dataset.of ? [target.dataset.of] : [], target);
});

document.addEventListener("change", ({ target }) => {
  const row = target.closest("tr[data-column]");
  if (target.id === "filter" || target.id === "suggestion") return filter();
  if (target.id === "all") return tickShown(target.checked);
  if (row && target.className === "selected") countTicked();
  else if (row && target.className === "role") setRole([row], target.value);
  else if (row && target.className === "read") choose("read", target.checked, [row.dataset.column]);
  else if (target.name && !("local" in target.dataset) && !target.closest("form") && (target.type !== "number" || target.value === "")) {
    const value = target.type === "checkbox" ? target.checked : target.value;
    choose(target.name, value, target.dataset.of ? [target.dataset.of] : [], target);
    if (document.body.dataset.screen === "sign") flush().then(() => load($("#verdict"), "/data/verdict"));
  }
});

// ---- clicks and keys
async function go(path) {
  await flush();
  location.assign(path);
}

document.addEventListener("submit", (event) => {
  if (!event.target.dataset.post) return;
  event.preventDefault();
  post(event.target, event.submitter && event.submitter.dataset.post ? event.submitter : null);
});

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[href^='/']");
  if (link) { event.preventDefault(); return go(link.getAttribute("href")); }
  const button = event.target.closest("button");
  if (!button) return;
  const said = button.dataset;
  if (said.run) run(button);
  else if (said.post) post(button.closest("form") || button, button);
  else if (said.open) $(`#${said.open}`).showModal();
  else if (said.set) put($(`#${said.set}`), said.value);
  else if (said.choose) choose(said.choose, said.value, [said.of]);
  else if ("copy" in said) { await navigator.clipboard.writeText($("pre", button.closest("section")).textContent); say("Copied."); }
  else if (button.id === "keys-button") $("#keys").showModal();
  else if (button.id === "stop") ask("/stop", { number: Number(said.number) });
  else if (button.id === "confirm-all") confirmShown();
  else if (button.id === "set-ticked") setTicked();
  else if (button.id === "quit") load($("#main"), "/quit", {});
});

function put(control, value) {
  control.value = value;
  control.dispatchEvent(new Event("input", { bubbles: true }));
}

function confirmShown() {
  const rows = shownRows();
  if (!rows.length || refuseUnseen(rows)) return;
  rows.forEach((row) => { $(".read", row).checked = true; });
  choose("read", true, columnsOf(rows));
}

function move(row, step) {
  const rows = shownRows();
  const next = rows[Math.min(Math.max(rows.indexOf(row) + step, 0), rows.length - 1)];
  if (!next) return;
  rowsOf("[tabindex='0']").forEach((each) => { each.tabIndex = -1; });
  next.tabIndex = 0;
  next.focus();
}

document.addEventListener("keydown", (event) => {
  const { target, key: pressed } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  if (target.matches("input:not([type=checkbox]):not([type=range]), textarea, select")) {
    if (pressed === "Escape") target.blur();
    else if (pressed === "Enter" && target.id === "find") move(null, 1);
    return;
  }
  const focused = target.closest("tr[data-column]"), row = focused || $(".roles tbody tr[tabindex='0']");
  const screens = all("nav a").map((each) => each.getAttribute("href"));
  const at = screens.indexOf(location.pathname);
  const roles = ["identifier", "quasi", "sensitive", "keep", "exclude"];
  if (row && pressed === "ArrowDown") move(row, focused ? 1 : 0);
  else if (row && pressed === "ArrowUp") move(row, -1);
  else if (focused && roles[pressed - 1]) setRole([focused], roles[pressed - 1]);
  else if (focused === target && pressed === " ") { const box = $(".selected", focused); box.checked = !box.checked; countTicked(); }
  else if (row && pressed === "a") tickShown(!$("#all").checked);
  else if (row && pressed === "s") $("#ticked-role").focus();
  else if (row && pressed === "c") confirmShown();
  else if (pressed === "/" && $("#find")) $("#find").focus();
  else if (pressed === "?") $("#keys").showModal();
  else if (pressed === "n" && screens[at + 1]) go(screens[at + 1]);
  else if (pressed === "b" && screens[at - 1]) go(screens[at - 1]);
  else if (pressed === "r") { const button = $("[data-key=r]"); if (button) button.click(); else if (location.pathname !== "/check") go("/check"); }
  else return;
  event.preventDefault();
});

$("#raw").addEventListener("close", () => { $("#raw-rows").replaceChildren(); all("#raw [data-run]").forEach((each) => { each.disabled = false; }); });
refresh(all("[data-load]"));
