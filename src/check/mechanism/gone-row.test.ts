import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { explain } from '../explain.js';
import { findingIdentity } from '../identity.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

/** A deleted row that is read again, after so much other work that no reader can see it or its deletion any more. */
function ghost(between: number) {
  const work = Array.from({ length: between }, (_, i) => `B: UPDATE t SET v = ${i} WHERE id = 2 -> 1`);
  const history = story(`
    A: INSERT INTO t VALUES (7, 70) -> 1
    A: DELETE FROM t WHERE id = 7 -> 1
    ${work.join('\n')}
    C: SELECT id, v FROM t WHERE id = 7 -> 7,70`);
  const { findings } = verifyMechanism(history, findContract('postgres:repeatable-read')!);
  expect(findings).toHaveLength(1);
  return { finding: findings[0]!, identity: findingIdentity(findings[0]!, history) };
}

it.each([80, 500])('who wrote a row that is long gone is still named after %i operations', (between) => {
  const { finding, identity } = ghost(between);
  expect(finding.kind).toBe('extra-row');
  expect(finding.operations.map(({ text }) => text)).toEqual([
    'SELECT id, v FROM t WHERE id = 7',
    'INSERT INTO t VALUES (7, 70)',
  ]);
  expect(explain(finding)).toContain('it may see no row (deleted by A#2, committed');
  expect(explain(finding)).toContain('that value of A had been overwritten before that state');
  // So a finding of a long run stays itself while its case shrinks.
  expect(identity).toBe(ghost(1).identity);
});
