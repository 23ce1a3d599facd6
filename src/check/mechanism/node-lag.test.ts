import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { explain } from '../explain.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

/** Sessions P… run on the primary, S… on the standby; A… on the first node of a cluster in which all write, B… on the second. */
function judged(contract: string, text: string) {
  const { header, operations } = story(text);
  const names: Readonly<Record<string, string>> = { P: 'primary', S: 'standby', A: 'node1', B: 'node2' };
  const nodes = header.sessions.map((name) => names[name[0]!]!);
  return verifyMechanism({ header: { ...header, nodes }, operations }, findContract(contract)!).findings;
}

const kindsOf = (contract: string, text: string) => judged(contract, text).map(({ kind }) => kind);
const [rr, rc] = ['postgres:repeatable-read+standby', 'postgres:read-committed+standby'] as const;

describe('a standby', () => {
  it.each([rr, rc])('may show an old committed state (%s)', (contract) => {
    const stale = `
      P: UPDATE t SET v = 11 WHERE id = 1 -> 1
      P: UPDATE t SET v = 12 WHERE id = 1 -> 1
      S: SELECT id, v FROM t -> 1,11 | 2,20
      S2: SELECT id, v FROM t -> 1,11 | 2,20`;
    expect(kindsOf(contract, stale)).toEqual([]);
    // A single server may not.
    expect(kindsOf(contract.replace('+standby', ''), stale)).not.toEqual([]);
  });

  it.each([rr, rc])('never goes back behind what it has shown (%s)', (contract) => {
    const [finding, ...others] = judged(
      contract,
      `P: UPDATE t SET v = 11 WHERE id = 1 -> 1
       S: SELECT id, v FROM t -> 1,11 | 2,20
       S2: SELECT id, v FROM t -> 1,10 | 2,20`,
    );
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ kind: 'fractured-snapshot', clause: 'otherNodesLag true' });
    expect(explain(finding!)).toContain('its node had shown what P wrote');
  });

  it('shows commits in their order', () => {
    const skipped = `
      P: UPDATE t SET v = 11 WHERE id = 1 -> 1
      P: UPDATE t SET v = 21 WHERE id = 2 -> 1
      S: SELECT id, v FROM t -> 1,10 | 2,21`;
    expect(kindsOf(rr, skipped)).toEqual(['fractured-snapshot']);
    expect(kindsOf(rc, skipped)).toEqual(['fractured-snapshot']);
  });

  it('never shows what is not committed', () => {
    const dirty = `
      P: BEGIN
      P: UPDATE t SET v = 11 WHERE id = 1 -> 1
      S: SELECT id, v FROM t -> 1,11 | 2,20
      P: ROLLBACK`;
    expect(judged(rr, dirty)).toHaveLength(1);
    expect(judged(rc, dirty)).toHaveLength(1);
  });

  it('keeps one snapshot in a transaction at REPEATABLE READ', () => {
    const moved = `
      S: BEGIN
      S: SELECT id, v FROM t -> 1,10 | 2,20
      P: UPDATE t SET v = 11 WHERE id = 1 -> 1
      S: SELECT id, v FROM t -> 1,11 | 2,20
      S: COMMIT`;
    expect(judged(rr, moved)).toHaveLength(1);
    expect(judged(rc, moved)).toEqual([]);
  });

  it('excuses nothing on the primary', () => {
    const stale = `
      P: UPDATE t SET v = 11 WHERE id = 1 -> 1
      P2: SELECT id, v FROM t -> 1,10 | 2,20
      S: SELECT id, v FROM t -> 1,10 | 2,20`;
    expect(judged(rr, stale)).toHaveLength(1);
  });
});

describe('nodes that all write', () => {
  const galera = 'mariadb:repeatable-read+galera';

  it('may be behind each other', () => {
    expect(
      kindsOf(
        galera,
        `A: UPDATE t SET v = 11 WHERE id = 1 -> 1
         B: UPDATE t SET v = 21 WHERE id = 2 -> 1
         A2: SELECT id, v FROM t -> 1,11 | 2,20
         B2: SELECT id, v FROM t -> 1,11 | 2,21`,
      ),
    ).toEqual([]);
  });

  it('show what was committed on them', () => {
    const [finding] = judged(
      galera,
      `A: UPDATE t SET v = 11 WHERE id = 1 -> 1
       A2: SELECT id, v FROM t -> 1,10 | 2,20
       B: UPDATE t SET v = 21 WHERE id = 2 -> 1`,
    );
    expect(finding).toMatchObject({ kind: 'fractured-snapshot', clause: 'otherNodesLag true' });
  });

  it('may write one row at once, and certify one of them', () => {
    expect(
      kindsOf(
        galera,
        `A: BEGIN
         B: BEGIN
         A: UPDATE t SET v = 11 WHERE id = 1 -> 1
         B: UPDATE t SET v = 12 WHERE id = 1 -> 1
         A: COMMIT
         B: COMMIT -> error deadlock`,
      ),
    ).toEqual([]);
  });

  it('certify only rows that a transaction has changed: a row left as it was may be gone when it commits', () => {
    const overtaken = (write: string) => `
      A: BEGIN
      A: INSERT INTO t VALUES (3, 30) -> 1
      B: DELETE FROM t WHERE id = 1 -> 1
      A: ${write} -> 1
      A: COMMIT
      A2: SELECT id, v FROM t -> 2,20 | 3,30`;
    expect(kindsOf(galera, overtaken('UPDATE t SET v = v WHERE id = 1'))).toEqual([]);
    expect(kindsOf(galera, overtaken('UPDATE t SET v = 11 WHERE id = 1'))).toEqual(['fractured-snapshot']);
  });

  it('show a transaction the row that it left as it was: who writes a row sees it as written', () => {
    const seen = (rows: string) => `
      A: BEGIN
      A: SELECT id, v FROM t -> 1,10 | 2,20
      B: UPDATE t SET v = 11 WHERE id = 1 -> 1
      A: UPDATE t SET v = 11 WHERE id = 1 -> 1
      A: SELECT id, v FROM t -> ${rows}
      A: COMMIT`;
    expect(kindsOf(galera, seen('1,11 | 2,20'))).toEqual([]);
    expect(kindsOf(galera, seen('1,10 | 2,20'))).toEqual(['own-write-missed']);
  });
});
