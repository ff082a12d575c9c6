// Which words of a text are marked: the reader's own, those that speak for relevance, those that speak against it.

const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
const SENTENCE_END = /[.;:!?]/; // a pair across it would look odd
// Pairs are learned after words like these are gone, so they may stand between the two.
const BETWEEN = new Set("a an and as at by for from in into of on or the to with".split(" "));

// terms: [[term, weight], ...], a term is a word or two; own: words or phrases, "bird*" for all that begin so.
export function makeMarker(terms, own) {
  const words = new Map();
  const pairs = new Map();
  for (const [term, weight] of terms) {
    if (!/\p{L}/u.test(term)) continue; // a bare number says nothing to a reader
    const kind = weight > 0 ? "for" : "against";
    (term.includes(" ") ? pairs : words).set(term, kind);
  }
  const phrases = own.map((phrase) => phrase.toLowerCase().match(/[\p{L}\p{N}\p{M}_]+\*?/gu) ?? []);
  const spans = (text) => findSpans(text, words, pairs, phrases.filter((one) => one.length));
  return { spans, draw: (text) => drawn(text, spans(text)) };
}

// A fragment of plain text nodes and <mark> elements; nothing of the text is ever read as HTML.
export function drawn(text, spans) {
  const parts = document.createDocumentFragment();
  let at = 0;
  for (const { start, end, kind } of spans) {
    const mark = document.createElement("mark");
    mark.className = kind;
    mark.textContent = text.slice(start, end);
    parts.append(text.slice(at, start), mark);
    at = end;
  }
  parts.append(text.slice(at));
  return parts;
}

function findSpans(text, words, pairs, phrases) {
  const tokens = Array.from(text.matchAll(WORD), (found) => ({
    word: found[0].toLowerCase(), start: found.index, end: found.index + found[0].length, taken: false,
  }));
  const spans = [];
  const take = (first, last, kind) => {
    const run = tokens.slice(first, last + 1);
    if (run.some((token) => token.taken)) return;
    for (const token of run) token.taken = true;
    spans.push({ start: tokens[first].start, end: tokens[last].end, kind });
  };
  for (const phrase of phrases) {
    for (let at = 0; at + phrase.length <= tokens.length; at += 1) {
      if (phrase.every((word, step) => fits(tokens[at + step].word, word))) take(at, at + phrase.length - 1, "own");
    }
  }
  for (let at = 0; at + 1 < tokens.length; at += 1) {
    const next = follower(tokens, at);
    if (next >= tokens.length || SENTENCE_END.test(text.slice(tokens[at].end, tokens[next].start))) continue;
    const kind = pairs.get(`${tokens[at].word} ${tokens[next].word}`);
    if (kind) take(at, next, kind);
  }
  tokens.forEach((token, at) => words.has(token.word) && take(at, at, words.get(token.word)));
  return spans.sort((one, other) => one.start - other.start);
}

function follower(tokens, at) {
  let next = at + 1;
  while (next < tokens.length && BETWEEN.has(tokens[next].word)) next += 1;
  return next;
}

function fits(word, wanted) {
  return wanted.endsWith("*") ? word.startsWith(wanted.slice(0, -1)) : word === wanted;
}
