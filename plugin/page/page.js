// Fills the page from the figures in the document. Names and contents of sessions are inserted as text only.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const { periods, health, at: now, session, observes = false, replayed } = data;
/** The way from this page to the others of the gateway. */
const BASE = session === undefined ? "" : "../";
/** True if the page is a tab of the host, which sets its theme and opens sessions. */
const isFramed = window.parent !== window;
const find = (id) => document.getElementById(id);

/** Creates an element with attributes and children. Strings become text nodes. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** Creates a formatted number with its exact value in attributes. */
const value = (amount, text) => make("data", { value: amount, title: exact.format(amount) }, text);

const time = (at, text = moment.format(at)) =>
  make("time", { datetime: new Date(at).toISOString(), title: moment.format(at) }, text);

/** Creates a bar for a share. It is hidden from screen readers because its text is beside it. */
function bar(share, name) {
  const fill = make("i", { class: name });
  fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return make("span", { class: "bar", "aria-hidden": "true" }, fill);
}

/** Creates a table. Columns of numbers begin with "#". The first cell of a row is its header. */
function table(title, columns, rows) {
  const kind = columns.map((column) => (column.startsWith("#") ? "number" : undefined));
  const head = columns.map((column, at) => make("th", { scope: "col", class: kind[at] }, column.replace("#", "")));
  const body = rows.map((cells) =>
    make(
      "tr",
      {},
      ...cells.map((cell, at) =>
        make(at === 0 ? "th" : "td", { scope: at === 0 ? "row" : undefined, class: kind[at] }, ...[cell].flat()),
      ),
    ),
  );
  return make(
    "table",
    {},
    make("caption", { class: "unseen" }, title),
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...body),
  );
}

/** Creates a long table in a box that the keyboard can scroll. */
const scrolled = (title, ...rest) =>
  make("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": title }, table(title, ...rest));

/** Splits a name so that it may break after its colons. */
const breakable = (name) => name.split(/(?<=:)/).flatMap((piece) => [piece, make("wbr")]);

const under = (...content) => make("span", { class: "under" }, ...content);

function pairs(list, rows) {
  list.replaceChildren(...rows.flatMap(([name, ...content]) => [make("dt", {}, name), make("dd", {}, ...content)]));
}

const dayOf = (at) => new Date(at).toISOString().slice(0, 10);

/** Returns every day of a range, with zeros for days without requests. */
function everyDay(days, from, to) {
  const known = new Map(days.map((day) => [day.day, day]));
  const all = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) {
    const day = dayOf(at);
    all.push(known.get(day) ?? { day, requests: 0, sentBill: 0, withoutBill: 0 });
  }
  return all;
}

/** Returns the data of a period as the page shows it. */
function periodOf({ days, figures }) {
  // A replay ends with its last day; live figures end now.
  const last = replayed ? figures.days.at(-1)?.day : undefined;
  const until = last === undefined ? now : Date.parse(last) + DAY_MS - 1;
  const from = days === 0 ? (figures.days[0]?.day ?? dayOf(until)) : dayOf(until - (days - 1) * DAY_MS);
  // The chart shows at least a week, because a single day makes no curve.
  const week = dayOf(until - 6 * DAY_MS);
  const ofWeek = periods.find((period) => period.days === 7)?.figures;
  const charted = days === 1 && ofWeek?.unit === figures.unit ? ofWeek : figures;
  return {
    figures,
    words: days === 0 ? "all time" : days === 1 ? "today" : `the last ${days} days`,
    within: days === 0 ? "so far" : days === 1 ? "today" : `in the last ${days} days`,
    chart: everyDay(charted.days, from < week ? from : week, dayOf(until)),
    span: [Date.parse(from), until],
  };
}

/** Formats a saved share as the change of the bill. */
const change = (saved) =>
  saved === undefined ? "\u2013" : saved < 0 ? `+${percent(-saved)}` : `${MINUS}${percent(saved)}`;

/** Returns the bill with Concertina and without, as a whole if the prices of all answers are known. */
function billOf({ sentBill, withoutBill, answerBill, withoutAnswerBill }) {
  return answerBill === null || withoutAnswerBill === null
    ? { name: "Bill of prompts", sent: sentBill, without: withoutBill }
    : { name: "Bill of prompts and answers", sent: sentBill + answerBill, without: withoutBill + withoutAnswerBill };
}

function showSummary({ figures: { total, unit, comparison, fetchBill }, words }) {
  const { name, sent: unfetched, without } = billOf(total);
  // Requests as they were sent include fetches; those of a replay do not.
  const sent = unfetched + (fetchBill ?? 0);
  const modelled = saving(sent, without);
  // Where the two disagree, what was measured is the large number.
  const measured = comparison?.disagrees ? comparison.perTurn : undefined;
  const saved = measured?.share ?? modelled;
  const how = measured ? "per turn, measured" : "modelled";
  find("bill-title").textContent = observes ? `${name} if it were folded, ${how}` : `${name}, ${how}`;
  find("bill").replaceChildren(value(saved ?? 0, change(saved)));
  find("bill-of").replaceChildren(
    ...(measured ? [`Modelled: ${change(modelled)}, `] : []),
    value(sent, billed(sent, unit)),
    " instead of ",
    value(without, billed(without, unit)),
    unitWord(unit),
  );
  find("bill-range").textContent = `The bill without Concertina is modelled${rangeOf(total, unit)}.`;
  find("bill-answers").textContent = answersOf(total, unit);
  find("bill-saved").textContent =
    modelled === undefined || measured
      ? ""
      : `${billed(Math.abs(without - sent), unit)} ${modelled < 0 ? "more" : observes ? "would be saved" : "saved"}`;
  find("tokens").replaceChildren(value(total.sentTokens, compact.format(total.sentTokens)));
  find("tokens-of").replaceChildren(
    "instead of ",
    value(total.withoutTokens, compact.format(total.withoutTokens)),
    " (modelled)",
  );
  find("requests").replaceChildren(value(total.requests, compact.format(total.requests)));
  find("requests-of").textContent =
    `to the model, ${words}${total.bypassed === 0 ? "" : `; ${counted(total.bypassed, "request")} bypassed Concertina`}`;
  const verdict =
    saved === undefined
      ? "nothing was sent"
      : `the bill is ${percent(Math.abs(saved))} ${saved < 0 ? "higher" : "lower"}`;
  find("announced").textContent = `${capital(words)}: ${verdict}.`;
}

/** Returns the bounds of the modelled bill, or an empty string if they are equal. */
function rangeOf({ withoutLeast, withoutBill, withoutMost, answerBill, withoutAnswerBill }, unit) {
  const answers = answerBill === null ? 0 : (withoutAnswerBill ?? 0);
  const [least, modelled, most] = [withoutLeast, withoutBill, withoutMost].map((amount) =>
    billed(amount + answers, unit),
  );
  return least === modelled && most === modelled ? "" : `: between ${least} and ${most}${unitWord(unit)}`;
}

/** Returns the bill with answers, or the reason why it is unknown. */
function answersOf({ answered, answerTokens, answerBill, sentBill, withoutBill }, unit) {
  if (answered === 0)
    return replayed
      ? "Answers are not included."
      : "Answers are not included: the provider did not report their tokens.";
  const tokens = `${compact.format(answerTokens)} tokens in ${counted(answered, "answer")}`;
  if (answerBill === null) return `Answers are not included: their price is unknown (${tokens}).`;
  return `Prompts alone, without ${tokens}: ${billed(sentBill, unit)} instead of ${billed(withoutBill, unit)}${unitWord(unit)}.`;
}

function showDays({ figures: { total, unit }, chart, words }) {
  const amounts = ({ sentBill, withoutBill }) =>
    `${billed(sentBill, unit)} instead of ${billed(withoutBill, unit)}${unitWord(unit)}`;
  const whole = `${chart.length} days, ${dateOnly.format(Date.parse(chart[0].day))} to ${dateOnly.format(Date.parse(chart.at(-1).day))}`;
  const usual = `${capital(words)}: ${amounts(total)}`;
  find("days-hint").textContent =
    `Days are counted in UTC.${words === "today" ? " Today is the last of the seven." : ""}`;
  const readout = find("days-readout");
  const tell = (day) =>
    (readout.textContent = day ? `${dateOnly.format(Date.parse(day.day))}: ${amounts(day)}` : usual);
  tell();
  drawDays(find("days-chart"), `Bill of prompts by day, ${whole}. ${usual}.`, chart, unit, tell);
  const rows = chart.filter(({ requests }) => requests > 0).toReversed();
  find("days-table").replaceChildren(
    scrolled(
      "Bill of prompts by day",
      ["Day", "#Requests", "#With", "#Without (modelled)", "#Saved"],
      rows.map((day) => [
        dateOnly.format(Date.parse(day.day)),
        exact.format(day.requests),
        value(day.sentBill, billed(day.sentBill, unit)),
        value(day.withoutBill, billed(day.withoutBill, unit)),
        percent(saving(day.sentBill, day.withoutBill)),
      ]),
    ),
  );
}

/** Shows what is folded in the session, filtered by the text in the field. */
function showNow({ figures: { foldedNow } }) {
  find("now-section").hidden = session === undefined;
  if (session === undefined) return;
  const wanted = find("now-filter").value.trim().toLowerCase();
  const textOf = ({ label, refId, reason }) => `${label} ${refId} ${foldText(reason)}`.toLowerCase();
  const found = foldedNow.filter((one) => textOf(one).includes(wanted));
  const verb = observes ? "would stand" : "stand";
  find("now-search").hidden = foldedNow.length === 0;
  find("now-hint").textContent =
    foldedNow.length === 0
      ? "Nothing is folded in this session now."
      : `${found.length === foldedNow.length ? "" : `${exact.format(found.length)} of `}${counted(foldedNow.length, "original")} for which placeholders ${verb} in the context now, the newest first.`;
  const rows = found.map(({ refId, label, bytes: size, at, reason }) => [
    [label, under(idLink(refId, `now-${refId}`), ", ", foldText(reason))],
    value(size, bytes(size)),
    time(at, ago(at, now)),
  ]);
  find("now").replaceChildren(
    ...(rows.length === 0 ? [] : [scrolled("Folded now", ["Content", "#Size", "#Folded"], rows)]),
  );
}

/** Shows the tokens of each request of the session. */
function showPrompts({ figures: { prompts } }) {
  find("prompts-section").hidden = prompts.length === 0;
  find("days-section").hidden = session !== undefined;
  if (prompts.length === 0) return;
  const readout = find("prompts-readout");
  const amounts = ({ sentTokens, withoutTokens }) =>
    `${compact.format(sentTokens)} tokens instead of ${compact.format(withoutTokens)}`;
  const usual = `${counted(prompts.length, "request")}, the last with ${amounts(prompts.at(-1))}.`;
  const tell = (prompt) => (readout.textContent = prompt ? `${moment.format(prompt.at)}: ${amounts(prompt)}` : usual);
  tell();
  drawPrompts(find("prompts-chart"), `Tokens by request. ${usual}`, prompts, tell);
  find("prompts-table").replaceChildren(
    scrolled(
      "Tokens by request",
      ["Request", "#With", "#Without (modelled)"],
      prompts.map(({ at, sentTokens, withoutTokens }, index) => [
        [exact.format(index + 1), under(time(at))],
        exact.format(sentTokens),
        exact.format(withoutTokens),
      ]),
    ),
  );
}

/** Shows the comparison of folded sessions with untouched ones. */
function showMeasured({ figures: { comparison, unit } }) {
  find("measured-section").hidden = comparison === null;
  if (comparison === null) return;
  const { folded, untouched, perTurn, perSession, missing, modelled, withAnswers } = comparison;
  const between = ({ share, least, most }) =>
    `${change(share)} (${change(least)} to ${change(most)} with a probability of 95 %)`;
  find("measured-hint").textContent =
    perTurn === null
      ? `Not enough yet: the smaller group needs ${counted(missing, "more session", "more sessions")}.`
      : `Folding changed the bill per turn by ${between(perTurn)}. The model says ${change(modelled ?? undefined)}.${perSession === null ? "" : ` Per session: ${between(perSession)}.`}`;
  const groups = [folded, untouched];
  const row = (name, of) => [name, ...groups.map(of)];
  const per = (count, of) =>
    count === 0 ? "\u2013" : (of / count).toLocaleString("en-US", { maximumFractionDigits: 2 });
  const bill = withAnswers ? "Bill" : "Bill of prompts";
  find("measured").replaceChildren(
    table(
      "Folded and untouched sessions",
      ["Group", "#Folded", "#Untouched"],
      [
        row("Sessions", ({ sessions }) => exact.format(sessions)),
        row("Turns", ({ turns }) => exact.format(turns)),
        row(`${bill} per turn`, (group) => (group.turns ? billed(group.bill / group.turns, unit) : "\u2013")),
        row(`${bill} per session`, (group) => (group.sessions ? billed(group.bill / group.sessions, unit) : "\u2013")),
        row("Turns per session", ({ sessions, turns }) => per(sessions, turns)),
        row("Requests per turn", ({ turns, requests }) => per(turns, requests)),
        row("Asked for again per session", ({ sessions, fetches }) => per(sessions, fetches)),
        row("Failed tool calls per turn", ({ turns, failures }) => per(turns, failures)),
      ],
    ),
  );
}

function showKinds({ figures, within }) {
  const kinds = figures.kinds.filter(({ before }) => before > 0).toSorted((a, b) => b.before - a.before);
  if (kinds.length === 0)
    return find("kinds").replaceChildren(
      make(
        "p",
        { class: "hint" },
        `Nothing was folded ${within}. Content is folded when it is large or no longer needed.`,
      ),
    );
  const most = kinds[0].before;
  const rows = kinds.map(({ kind, before, after }) =>
    make(
      "li",
      {},
      make(
        "span",
        { class: "row" },
        make("span", {}, capital(kind)),
        make("span", {}, value(before, compact.format(before)), arrow(), value(after, compact.format(after))),
      ),
      bars(before / most, after / most),
    ),
  );
  find("kinds").replaceChildren(make("ul", { class: "bars" }, ...rows));
}

/** Creates an arrow for the eye and words for screen readers. */
const arrow = () =>
  make(
    "span",
    {},
    make("span", { "aria-hidden": "true" }, " \u2192 "),
    make("span", { class: "unseen" }, " before, now "),
  );

function bars(before, after) {
  const both = bar(before, "before");
  both.append(...bar(after, "after").children);
  return both;
}

function showEpochs({ figures: { epochs, sessions }, span, within }) {
  const isAny = epochs.length > 0;
  const [box, readout] = [find("epochs-chart"), find("epochs-readout")];
  box.hidden = !isAny;
  find("epochs-details").hidden = !isAny;
  const lanes = REASONS.filter((row) => epochs.some(({ reason }) => reasonOf(reason) === row));
  pairs(
    find("reasons"),
    lanes.map(([, title, meaning]) => [title, meaning]),
  );
  const freed = epochs.reduce((tokens, { tokensFreed }) => tokens + tokensFreed, 0);
  const usual = isAny
    ? `${counted(epochs.length, "epoch")} ${within}: ${compact.format(freed)} tokens were taken out of the context.`
    : `There was no epoch ${within}.`;
  const tell = (epoch) =>
    (readout.textContent =
      epoch === undefined
        ? usual
        : `${moment.format(epoch.at)}, ${reasonText(epoch.reason)}: ${counted(epoch.blocks, "block")}, ${compact.format(epoch.tokensFreed)} tokens taken out, ${compact.format(epoch.tokensRebilled)} billed again`);
  tell();
  if (!isAny) return;
  const ascending = epochs.toSorted((a, b) => a.at - b.at);
  drawEpochs(box, `Epochs on a time line. ${usual}`, ascending, lanes, span, tell);
  const names = namesOf(sessions);
  find("epochs-table").replaceChildren(
    scrolled(
      "Epochs",
      ["When", "Reason", "#Blocks", "#Tokens taken out", "#Tokens billed again"],
      epochs.map((epoch) => [
        [time(epoch.at), under(sessionName(names.get(epoch.sessionId), epoch.sessionId))],
        reasonText(epoch.reason),
        exact.format(epoch.blocks),
        exact.format(epoch.tokensFreed),
        exact.format(epoch.tokensRebilled),
      ]),
    ),
  );
}

function showSessions({ figures: { sessions, unit }, within }) {
  find("sessions-section").hidden = session !== undefined || (replayed !== undefined && sessions.length === 1);
  if (sessions.length === 0)
    return find("sessions").replaceChildren(make("p", { class: "hint" }, `No session was active ${within}.`));
  const rows = sessions
    .toSorted((a, b) => b.lastAt - a.lastAt)
    .map((session) => {
      const share = saving(session.sentBill, session.withoutBill);
      return [
        [
          sessionLink(session),
          under(
            counted(session.requests, "request"),
            ", ",
            time(session.lastAt, ago(session.lastAt, now)),
            ...seen(session),
          ),
        ],
        [
          value(session.sentBill, billed(session.sentBill, unit)),
          under("without ", value(session.withoutBill, billed(session.withoutBill, unit))),
        ],
        [percent(share), bar(share ?? 0)],
      ];
    });
  find("sessions").replaceChildren(scrolled("Sessions", ["Session", "#Bill of prompts", "#Saved"], rows));
}

/** Creates the link to what is folded in a session, and says if it is untouched. */
function seen({ sessionId, sessionKey, isHeldOut }) {
  if (isHeldOut) return [", left untouched for comparison"];
  if (data.kind !== "page") return [];
  const name = `What is folded in ${sessionName(sessionKey, sessionId)}`;
  const href = `session/${encodeURIComponent(sessionId)}?theme=${theme()}`;
  return [", ", make("a", { href, class: "folded", "aria-label": name }, "what is folded")];
}

/** Creates the name of a session. In the host it is a button that opens the session. */
function sessionLink({ sessionKey, sessionId }) {
  const name = sessionName(sessionKey, sessionId);
  if (!isFramed || sessionKey === null) return make("span", {}, ...breakable(name));
  const button = make("button", { type: "button", class: "link", title: "Open this session" }, ...breakable(name));
  button.addEventListener("click", () =>
    window.parent.postMessage({ type: "openclaw-plugin-session-open", sessionKey }, window.location.origin),
  );
  return button;
}

/** Returns a note if a list does not contain all items. */
const newest = (listed, all) =>
  listed < all ? ` These are the newest ${exact.format(listed)} of ${exact.format(all)}.` : "";

/** Returns the keys of sessions by their ids. */
const namesOf = (sessions) => new Map(sessions.map(({ sessionId, sessionKey }) => [sessionId, sessionKey]));

const theme = () =>
  document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

const chosenDays = () => Number(document.querySelector('[name="period"]:checked').value);

/** Returns the address of an original in the gateway, with the period and theme for the way back. */
const originalAt = (id) => {
  const from = session === undefined ? "" : `&session=${encodeURIComponent(session.sessionId)}`;
  return `${BASE}original/${encodeURIComponent(id)}?days=${chosenDays()}&theme=${theme()}${from}`;
};

/** Creates the id of a placeholder. In the gateway it is a link to the original. */
const idLink = (refId, id) =>
  data.kind === "page" ? make("a", { class: "id", href: originalAt(refId), id }, refId) : make("code", {}, refId);

function showFetched({ figures: { fetched, sessions, total }, within }) {
  const how =
    data.kind === "page" ? "Choose an id to see the original." : "In a shell, openclaw concertina fetch ID prints one.";
  find("fetched-hint").textContent =
    `An agent asked for these originals again: it fetched them, or called the tool again. If that is more than 5 % of the results of a session, content of that tool stays in sight longer there. ${how}${newest(fetched.length, total.fetches)}`;
  find("lookup").hidden = data.kind !== "page";
  const names = namesOf(sessions);
  const rows = fetched.map(({ at, refId, tokens, sessionId, tool, isRerun }) => [
    [
      idLink(refId, `fetched-${refId}`),
      under(time(at), sessionId === null ? "" : `, ${sessionName(names.get(sessionId), sessionId)}`),
    ],
    `${tool} ${isRerun ? "run again" : "fetched"}`,
    value(tokens, compact.format(tokens)),
  ]);
  const none = make("p", { class: "hint" }, `No original was asked for again ${within}.`);
  const heads = ["Placeholder", "How", "#Tokens"];
  find("fetched").replaceChildren(rows.length > 0 ? scrolled("Asked for again", heads, rows) : none);
}

/** Opens the original with the id, or with the marker, that the user typed. */
function lookUp() {
  const [id] = /[0-9a-f]{16,64}/i.exec(find("lookup-id").value) ?? [];
  find("lookup-fault").textContent =
    id === undefined ? "An id has 16 to 64 hexadecimal digits. A placeholder shows it as [REF_ID: \u2026]." : "";
  if (id !== undefined) window.location.href = originalAt(id.toLowerCase());
}

function showHealth() {
  const state = find("state");
  if (health === null) return;
  state.textContent = health.engine === "inactive" ? "not active" : health.engine;
  state.classList.toggle("active", health.engine !== "inactive");
  find("health").hidden = false;
  const { store } = health;
  const [open, fine] = [true, false].map((isOpen) =>
    health.findings.filter(({ level }) => (level !== "ok") === isOpen),
  );
  const meter = make("meter", {
    value: store.storedBytes,
    max: Math.max(1, store.maxBytes),
    high: store.maxBytes * 0.9,
    "aria-label": "Share of the store that is used",
  });
  pairs(find("health-list"), [
    [
      "Last fold",
      health.lastFoldAt === null
        ? "None yet"
        : time(health.lastFoldAt, `${ago(health.lastFoldAt, now)}, ${moment.format(health.lastFoldAt)}`),
    ],
    ...(store.path === ""
      ? []
      : store.maxBytes === 0
        ? [["Store", "None yet"]]
        : [
            ["Store", `${bytes(store.storedBytes)} of at most ${bytes(store.maxBytes)}`, meter],
            [
              "Originals",
              `${exact.format(store.originals)}, ${bytes(store.originalBytes)} before they were compressed`,
            ],
          ]),
    ...(store.path === "" ? [] : [["File", make("code", {}, store.path)]]),
    ["Checks", findingList(open), ...(fine.length === 0 ? [] : [details(`${fine.length} fine`, findingList(fine))])],
  ]);
}

const details = (title, ...content) => make("details", {}, make("summary", {}, title), ...content);

/** Creates the list of findings: each with its level, the fact, the remedy, and its first time. */
function findingList(findings) {
  if (findings.length === 0) return "Nothing to do.";
  const item = ({ key, level, text, remedy, since }) =>
    make(
      "li",
      { class: level },
      `${capital(level)}, ${key}: ${text}`,
      ...(remedy === null ? [] : [under(remedy)]),
      ...(since === null ? [] : [under("since ", time(since))]),
    );
  return make("ul", { class: "findings" }, ...findings.map(item));
}

function showMethod({ figures: { total, unit } }) {
  const counts = total.requests - total.measured;
  const how = replayed
    ? [
        [
          "Replayed",
          "All figures are modelled: recorded sessions were replayed and folded as the plugin would have folded them.",
        ],
      ]
    : [
        ["Measured", `${counted(total.measured, "request")}, with the tokens that the provider reported.`],
        [
          "Counted here",
          counts === 0
            ? "None."
            : `${counted(counts, "request")}, counted with the tokenizer because the provider reported nothing.`,
        ],
      ];
  pairs(find("method-list"), [
    ...how,
    [
      "Without it",
      `Always modelled: the same requests with every original in place, at the cache\u2019s prices, and with the host\u2019s compaction if they exceed the model\u2019s window (${counted(total.compacting, "call")} for notes and summaries). The bounds are a host whose compaction keeps no message and one that drops as little as possible.`,
    ],
    ...(total.bypassed === 0
      ? []
      : [
          [
            "Bypassed",
            `${counted(total.bypassed, "request")} of another engine, while Concertina was off or unavailable, or in an interrupted turn. They count as the same without Concertina.`,
          ],
        ]),
    [
      "Not included",
      "The host\u2019s own calls for /compact, automatic compaction, notes and titles; and interrupted turns, until the next turn of their session ends.",
    ],
    replayed
      ? ["Fetches", "Modelled. They are part of the bill above, but of no list or chart."]
      : [
          "Asked for again",
          `${counted(total.fetches, "time")}, ${exact.format(total.fetchTokens)} tokens, which are included in the tokens sent.`,
        ],
    [
      "Overhead",
      `${exact.format(total.overheadTokens)} tokens for the definition of the fetch tool in all requests, which are included in the tokens sent.`,
    ],
    ...(total.answered === 0
      ? []
      : [
          [
            "Answers",
            `${exact.format(total.answerTokens)} tokens, as the provider reported them. They are included only in the bill with answers.`,
          ],
        ]),
    [
      "Bill",
      unit === "usd"
        ? "In US dollars, at your models\u2019 prices."
        : "In input tokens, because the price in dollars of some model is unknown. A token that is read from the cache counts as the fraction that it costs.",
    ],
  ]);
}

function showReplayed() {
  if (replayed === undefined) return;
  find("replayed-section").hidden = false;
  pairs(
    find("replayed"),
    replayed.map(([name, text, ...more]) => [capital(name), text, ...more.map((line) => under(line))]),
  );
}

function showNotices() {
  const notices = [];
  if (observes)
    notices.push(
      "Concertina only observes: nothing that was sent was changed. The figures show what folding would have done.",
    );
  if (health !== null && health.engine === "inactive")
    notices.push(`Concertina is not active: ${health.why ?? "the reason is unknown"}. Nothing is folded meanwhile.`);
  if (periods.length === 0) notices.push("There are no figures while the store cannot be used.");
  find("notices").replaceChildren(...notices.map((text) => make("p", { class: "notice" }, text)));
}

const chosenPeriod = () => periodOf(periods.find(({ days }) => days === chosenDays()));

function show() {
  const period = chosenPeriod();
  for (const part of [showSummary, showNow, showMeasured, showKinds, showSessions, showFetched, showMethod])
    part(period);
  draw(period);
}

/** Draws the charts in the colours of the theme. */
function draw(period = chosenPeriod()) {
  clearCharts();
  if (session === undefined) showDays(period);
  showPrompts(period);
  showEpochs(period);
}

/** Applies a change of theme. The focused element keeps the focus. */
function follow() {
  if (find("figures").hidden) return;
  draw();
  for (const link of document.querySelectorAll("a.id")) link.href = originalAt(link.textContent);
  for (const link of document.querySelectorAll("a.folded")) link.search = `?theme=${theme()}`;
}

function start() {
  find("title").textContent = data.title ?? (session ? sessionName(session.sessionKey, session.sessionId) : "");
  find("back").hidden = session === undefined || data.kind !== "page";
  if (session !== undefined) document.documentElement.dataset.session = "";
  if (!find("back").hidden) find("back").replaceChildren(make("a", { href: "../page" }, "\u2190 All sessions"));
  find("made").textContent = `Concertina ${data.version}, ${moment.format(now)}.`;
  showNotices();
  showHealth();
  const isEmpty = periods.every(({ figures }) => figures.total.requests === 0);
  find("empty").hidden = !isEmpty || periods.length === 0;
  find("periods").hidden = isEmpty || periods.length === 1;
  if (isEmpty) return;
  find("figures").hidden = false;
  showReplayed();
  find("method").hidden = false;
  find("fetched-section").hidden = replayed !== undefined;
  // On return from an original, the period and the focus are restored.
  const was = new URLSearchParams(window.location.hash.slice(1));
  const radio = (days) =>
    [...document.getElementsByName("period")].find(
      ({ value: own }) => own === days && periods.some((period) => String(period.days) === own),
    );
  (radio(was.get("days")) ?? radio(data.kind === "page" ? "7" : "0") ?? radio(String(periods[0].days))).checked = true;
  show();
  find("periods").addEventListener("change", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
  find("now-filter").addEventListener("input", () => showNow(chosenPeriod()));
  find("lookup-open").addEventListener("click", lookUp);
  find("lookup-id").addEventListener("keydown", ({ key }) => key === "Enter" && lookUp());
  if (was.has("id")) (find(`now-${was.get("id")}`) ?? find(`fetched-${was.get("id")}`) ?? find("lookup-id")).focus();
}

window.addEventListener("message", ({ source, data: message }) => {
  if (!isFramed || source !== window.parent || message?.type !== "openclaw:widget-theme") return;
  if (message.mode !== "light" && message.mode !== "dark") return;
  document.documentElement.dataset.theme = message.mode;
  follow();
});

start();
