"use strict";

// Two texts word by word: what only the first has is gone, what only the second has is new.
// The longest common subsequence takes time and memory by the product of their lengths; beyond this the middle is replaced as a whole.
const MOST_CELLS = 4e6;

function words(text) {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) || [];
}

function compareWords(before, after) {
  const old = words(before), now = words(after);
  let start = 0, oldEnd = old.length, newEnd = now.length;
  while (start < oldEnd && start < newEnd && old[start] === now[start]) start++;
  while (oldEnd > start && newEnd > start && old[oldEnd - 1] === now[newEnd - 1]) { oldEnd--; newEnd--; }
  const runs = [];
  const add = (kind, text) => {
    if (!text) return;
    const last = runs[runs.length - 1];
    if (last && last[0] === kind) last[1] += text; else runs.push([kind, text]);
  };
  add("same", old.slice(0, start).join(""));
  for (const [kind, text] of middle(old.slice(start, oldEnd), now.slice(start, newEnd))) add(kind, text);
  add("same", old.slice(oldEnd).join(""));
  return runs;
}

function* middle(old, now) {
  if (old.length * now.length > MOST_CELLS) {
    yield ["gone", old.join("")];
    yield ["new", now.join("")];
    return;
  }
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      lengths[i * width + j] = old[i] === now[j]
        ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
  let i = 0, j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) { yield ["same", old[i]]; i++; j++; }
    else if (j >= now.length || (i < old.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) yield ["gone", old[i++]];
    else yield ["new", now[j++]];
  }
}
