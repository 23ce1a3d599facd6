import { expect, it } from 'vitest';
import { conflictErrors, endedWaits, goneErrors, refusalErrors, timeoutErrors } from './error-classes.js';

it('a conflict is a refusal, and neither a time-out nor a lost server is', () => {
  expect([...conflictErrors].filter((each) => !refusalErrors.has(each))).toEqual([]);
  for (const each of [...timeoutErrors, ...goneErrors]) {
    expect(refusalErrors.has(each)).toBe(false);
    expect(conflictErrors.has(each)).toBe(false);
  }
});

it('a wait ends by its own time limit or by that of its statement', () => {
  expect([...endedWaits].sort()).toEqual(['cancelled', 'lock-timeout', 'statement-timeout']);
});
