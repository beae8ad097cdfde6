// What is shown of one case once it is opened. Every text goes in as text: append() makes text nodes, and nothing here reads markup.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function details(one, meaning) {
  const panel = document.createDocumentFragment();
  const told = [one.change.replaceAll("_", " ")];
  if (one.reason) told.push(one.reason);
  if (one.known) told.push(`known: ${one.known}`);
  if (one.tags) told.push(`tags: ${one.tags.join(", ")}`);
  panel.append(element("p", {}, told.join(" · ")));
  if (one.move !== "none") panel.append(element("p", {}, `${one.move}: ${meaning[one.move]}.`));
  if (one.shares) panel.append(...shares(one));
  if (one.request) panel.append(element("h3", {}, "Request"), ...one.request.map(change));
  if (one.expectation) panel.append(element("h3", {}, "Expectation"), ...one.expectation.map(change));
  if (one.judges) panel.append(element("h3", {}, "Judges and programs"), ...one.judges.map(change));
  if (one.code) panel.append(element("h3", {}, "Grader code"), ...one.code.map(code));
  for (const trial of one.trials) panel.append(...trialParts(trial, one.trials.length > 1));
  panel.append(element("p", {}, "The commit that moved a clock: ", element("code", {}, "whichclock why CASE")));
  return panel;
}

function shares(one) {
  const list = element("ul");
  for (const [clock, share] of Object.entries(one.shares)) list.append(element("li", {}, `${clock}: ${share}`));
  for (const cure of one.cures || []) list.append(element("li", {}, `It passes again if ${cure.join(" and ")} alone ${cure.length > 1 ? "are" : "is"} set back.`));
  return [element("h3", {}, "Attribution: share of the change of the case's pass fraction"), list];
}

function change(one) {
  const name = one.part ? `${one.pointer} (${one.part})` : one.pointer;
  return element("div", {}, element("h4", {}, name), sides(one.before, one.after));
}

function code(one) {
  const made = element("div", {}, element("h4", {}, one.pointer));
  if (one.lines) made.append(block(one.lines.split("\n").map((line, i) => {
    const kind = /^(\+\+\+|---|@@)/.test(line) ? "" : line[0] === "+" ? "new" : line[0] === "-" ? "gone" : "";
    return element("span", kind ? { class: kind } : {}, (i ? "\n" : "") + line);
  }), `difference of the code of ${one.pointer}`));
  else made.append(element("p", {}, "Its digest moved; the lines are not at hand or shown above."));
  return made;
}

function trialParts(trial, several) {
  const parts = [];
  const name = several ? `Trial ${trial.trial}` : "";
  if (name) parts.push(element("h3", {}, trial.move ? `${name}: ${trial.move}` : name));
  if (trial.answer) parts.push(element("h3", {}, "Answer, the same on both sides"), ...trial.answer.map(([label, text]) => same(label, text)));
  if (trial.before || trial.after) parts.push(element("h3", {}, "Answers"), ...answers(trial.before, trial.after));
  if (!trial.answer && !trial.before && !trial.after && !trial.both) parts.push(element("p", {}, "The answers are not at hand."));
  parts.push(...judged(trial));
  if (trial.evidence) parts.push(element("h3", {}, "Evidence"), block([trial.evidence], "evidence"));
  return parts;
}

function answers(before, after) {
  const old = new Map(before || []), now = new Map(after || []);
  const made = [];
  for (const label of new Set([...old.keys(), ...now.keys()])) {
    if (old.get(label) === now.get(label)) made.push(same(label, old.get(label)));
    else made.push(element("div", {}, element("h4", {}, label), sides(old.get(label), now.get(label))));
  }
  return made;
}

function same(label, text) {
  return element("div", {}, element("h4", {}, label), block([text], label));
}

function sides(before, after) {
  const pair = element("div", { class: "pair" });
  const runs = before != null && after != null ? compareWords(before, after) : null;
  for (const [title, text, kind, tag] of [["base", before, "gone", "del"], ["head", after, "new", "ins"]]) {
    const parts = runs === null ? [text ?? "(nothing)"]
      : runs.filter(([run]) => run === "same" || run === kind).map(([run, part]) => run === "same" ? part : element(tag, {}, part));
    pair.append(element("div", {}, element("h4", {}, title), block(parts, title)));
  }
  return pair;
}

// A block that scrolls can be reached by keyboard.
function block(parts, label) {
  return element("pre", { tabindex: "0", role: "group", "aria-label": label }, ...parts);
}

function judged(trial) {
  const columns = trial.both ? [["both sides", trial.both]] : [["base", trial.base], ["head", trial.head]];
  const table = element("table", {}, element("thead", {}, element("tr", {}, element("td"), ...columns.map(([name]) => element("th", { scope: "col" }, name)))));
  const body = element("tbody");
  for (const name of ["status", "findings", "expected", "evidence", "error", "finish_reason", "reported_model", "recorded_at", "input_tokens", "output_tokens", "latency_ms", "cost_usd"]) {
    const needed = name === "findings" || name === "expected" || columns.some(([, side]) => side && side[name] !== undefined);
    if (needed) body.append(element("tr", {}, element("th", { scope: "row" }, name.replaceAll("_", " ")), ...columns.map(([, side]) => element("td", {}, ...value(side, name)))));
  }
  table.append(body);
  return [element("h3", {}, "Findings"), table];
}

function value(side, name) {
  if (!side) return ["no row"];
  const found = side[name];
  if (found === undefined) return [name === "findings" || name === "expected" ? "none" : "–"];
  if (Array.isArray(found)) return [found.join(", ")];
  if (typeof found === "object") return Object.entries(found).map(([code, text]) => element("div", {}, `${code}: ${text}`));
  return [String(found)];
}
