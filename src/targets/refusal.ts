/** Statements that are not sent: who decides, and what the case is told. */
import { IsoldeError } from '../errors.js';

/** Why a statement is not sent, or undefined when it may be. */
export type Guard = (sql: string) => string | undefined;

/** What stands in a statement that is refused, and why it is. */
export type WordRule = readonly [words: Words, why: string];

/** As regular expressions have it; none of them takes more than linear time, for the text may be hostile. */
interface Words {
  test(sql: string): boolean;
}

/** All of these words, in any order. */
export function mentions(...words: readonly string[]): Words {
  const each = words.map((word) => new RegExp(`\\b(?:${word})\\b`, 'i'));
  return { test: (sql) => each.every((word) => word.test(sql)) };
}

/**
 * One of some words, followed by one of others. Where there is a comment anywhere, they may stand apart: what is a comment, two readers of
 * the same text can disagree about.
 */
export function together(some: string, others: string): Words {
  const next = new RegExp(`\\b(?:${some})\\s+(?:${others})\\b`, 'i');
  const both = commented(mentions(some, others));
  return { test: (sql) => next.test(sql) || both.test(sql) };
}

/** These words, in a statement that has a comment anywhere. */
export function commented(words: Words): Words {
  return { test: (sql) => /\/\*|--|#/.test(sql) && words.test(sql) };
}

/** The error of a statement that was not sent. */
export function refusal(reason: string): {
  readonly class: 'unsupported';
  readonly code: string;
  readonly message: string;
} {
  return { class: 'unsupported', code: 'isolde', message: `Isolde does not send this statement: ${reason}.` };
}

/** Rejects with code `safety` where a set-up holds a statement that is not sent. */
export function checkSetup(setup: readonly string[], guard: Guard): void {
  for (const sql of setup) {
    const refused = guard(sql);
    if (refused !== undefined) throw new IsoldeError('safety', `${refusal(refused).message}\n${sql}`);
  }
}
