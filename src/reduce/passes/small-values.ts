/**
 * Makes values small, everywhere at once, so that equal values stay equal: all numbers renumbered in their order
 * (7, 55, 1034 → 1, 2, 3), then each number and each text alone: by the smallest not yet used, or by 0 or 1 even where that
 * makes two values one.
 */
import { tokenize } from '../../sql/index.js';
import type { Candidate } from '../candidate.js';
import { type Pass, type PassContext, type Proposal, withSql } from './pass.js';

const smallest = 10;

export const smallValues: Pass = {
  name: 'small values',
  proposals(current, context) {
    const numbers = literals(current, context, 'number').filter((text) => /^\d+$/.test(text));
    const texts = literals(current, context, 'string').filter((text) => text.length > 3);
    const ordered = numbers.toSorted((a, b) => Number(a) - Number(b));
    const renumbered = (start: number) => new Map(ordered.map((text, i) => [text, String(start + i)]));
    const free = Array.from({ length: smallest }, (_, i) => String(i)).filter((n) => !numbers.includes(n));
    const letters = [...'abcdefgh'].map((letter) => `'${letter}'`).filter((text) => !texts.includes(text));
    return [
      replaced(current, context, renumbered(0)),
      replaced(current, context, renumbered(1)),
      ...ordered
        .toReversed()
        .flatMap((text) =>
          [...free.slice(0, 2), '0', '1'].map((n) => replaced(current, context, new Map([[text, n]]))),
        ),
      ...texts.flatMap((text) =>
        letters.slice(0, 1).map((letter) => replaced(current, context, new Map([[text, letter]]))),
      ),
    ];
  },
};

function literals(current: Candidate, { dialect }: PassContext, kind: 'number' | 'string'): string[] {
  const { setup, sessions } = current.case;
  const all = [...setup, ...sessions.flatMap(({ statements }) => statements)];
  return [
    ...new Set(
      all.flatMap((sql) =>
        tokenize(sql, dialect)
          .filter((token) => token.kind === kind)
          .map(({ text }) => text),
      ),
    ),
  ];
}

function replaced(current: Candidate, { dialect }: PassContext, by: ReadonlyMap<string, string>): Proposal {
  return () =>
    withSql(current, (sql) =>
      tokenize(sql, dialect)
        .map(({ kind, text }) => (kind === 'number' || kind === 'string' ? (by.get(text) ?? text) : text))
        .join(''),
    );
}
