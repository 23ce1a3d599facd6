import { expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import { story } from './mechanism/story.case.js';
import { verifyMechanism } from './mechanism/verify.js';
import { sharperFinding } from './sharper-finding.js';

const duckdb = findContract('duckdb:snapshot')!;

/** A story whose operations name their statement in the program of their session. */
function program(text: string): History {
  const { header, operations } = story(text, { dialect: 'duckdb' });
  const sent = new Map<number, number>();
  return {
    header,
    operations: operations.map((operation) => {
      const at = sent.get(operation.session) ?? 0;
      sent.set(operation.session, at + 1);
      return { ...operation, statement: [operation.session, at] as const };
    }),
  };
}

const raw = program(`
  [10,20] A: BEGIN
  [21,30] A: SELECT id, v FROM t -> 1,10 | 2,20
  [31,60] A: UPDATE t SET v = 55 WHERE id = 1 -> 1
  [25,50] B: DELETE FROM t WHERE id = 1 -> 1
  [61,70] A: COMMIT
  [80,90] B: SELECT id, v FROM t -> 2,20`);

const ordered = (other: string) =>
  program(`
  A: BEGIN
  A: SELECT id, v FROM t -> 1,10 | 2,20
  B: ${other}
  A: UPDATE t SET v = 55 WHERE id = 1 -> 1
  A: COMMIT
  B: SELECT id, v FROM t -> 2,20`);

it('names the missed conflict where the raw run shows only that a row is gone', () => {
  const [finding] = verifyMechanism(raw, duckdb).findings;
  expect(finding?.kind).toBe('missing-row');
  const again = ordered('DELETE FROM t WHERE id = 1 -> 1');
  const { findings } = verifyMechanism(again, duckdb);
  const sharper = sharperFinding({ finding: finding!, history: raw }, findings, again);
  expect(sharper?.kind).toBe('update-of-changed-row');
});

it('takes no finding that names none of the same writes', () => {
  const [finding] = verifyMechanism(raw, duckdb).findings;
  const again = program(`
    A: BEGIN
    A: SELECT id, v FROM t -> 1,10 | 2,21
    A: ROLLBACK`);
  const { findings } = verifyMechanism(again, duckdb);
  expect(findings).toHaveLength(1);
  expect(sharperFinding({ finding: finding!, history: raw }, findings, again)).toBeUndefined();
});
