// Texts of the papers' formulas: `code`, x_i, w_max, e^{−x} and n^(2/3), as pieces to be set.
//
// An underscore lowers what follows a symbol (up to two letters of the alphabet, a Greek letter, a
// closing bracket); in a longer word, as in standard_error, it is an underscore.
//
// SPDX-License-Identifier: Apache-2.0

export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'lowered'; pieces: Piece[] }
  | { kind: 'raised'; pieces: Piece[] };

interface Script {
  piece: Piece;
  end: number; // the first character behind it
}

const kLowered = /[A-Za-z0-9]+|[\p{L}½*⊥∥]/uy;
const kRaised = /\d+(?:\.\d+)?|[\p{L}½*]/uy;
const kWord = /[A-Za-z]{3}$/;

// What is between a bracket and its partner; null where it has none.
function bracketed(text: string, start: number): string | null {
  const open = text[start];
  const close = open === '{' ? '}' : ')';
  let depth = 0;
  for (let at = start; at < text.length; ++at) {
    if (text[at] === open) ++depth;
    if (text[at] === close && --depth === 0) return text.slice(start + 1, at);
  }
  return null;
}

function code(text: string, at: number): Script | null {
  const end = text.indexOf('`', at + 1);
  if (end < 0) return null;
  return { piece: { kind: 'code', text: text.slice(at + 1, end) }, end: end + 1 };
}

function script(text: string, at: number): Script | null {
  const kind = text[at] === '_' ? 'lowered' : 'raised';
  if (at === 0 || /\s/.test(text[at - 1]!)) return null;
  if (text[at + 1] === '{' || (kind === 'raised' && text[at + 1] === '(')) {
    const inside = bracketed(text, at + 1);
    if (inside === null) return null;
    return { piece: { kind, pieces: rich(inside) }, end: at + inside.length + 3 };
  }
  const pattern = kind === 'lowered' ? kLowered : kRaised;
  pattern.lastIndex = at + 1;
  const found = pattern.exec(text)?.[0];
  if (found === undefined) return null;
  const is_word = /^[A-Za-z]/.test(found) && kWord.test(text.slice(0, at));
  if (kind === 'lowered' && is_word) return null;
  return { piece: { kind, pieces: [{ kind: 'text', text: found }] }, end: at + 1 + found.length };
}

function special_at(text: string, at: number): Script | null {
  if (text[at] === '`') return code(text, at);
  return text[at] === '_' || text[at] === '^' ? script(text, at) : null;
}

/** The text in pieces; together they have all its characters but the marks. */
export function rich(text: string): Piece[] {
  const pieces: Piece[] = [];
  let begin = 0;
  for (let at = 0; at < text.length; ) {
    const special = special_at(text, at);
    if (special === null) {
      ++at;
      continue;
    }
    if (begin < at) pieces.push({ kind: 'text', text: text.slice(begin, at) });
    pieces.push(special.piece);
    begin = at = special.end;
  }
  if (begin < text.length) pieces.push({ kind: 'text', text: text.slice(begin) });
  return pieces;
}
