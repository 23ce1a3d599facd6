import { describe, expect, it } from 'vitest';
import type { Pivot } from '../contracts/index.js';
import { isUndecidable, parseStatement } from '../sql/index.js';
import { ShadowState } from './shadow-state.js';

/** Runs `session: statement` lines and returns a session's rows of t, or that they are not known. */
function story(pivot: Pivot, lines: readonly string[], session: number) {
  const shadow = new ShadowState({ dialect: 'sqlite', target: 'sqlite', pivot, ddlCommits: false });
  const all = ['0: CREATE TABLE t (a INT, b INT)', '0: INSERT INTO t VALUES (1, 10), (2, 20)', ...lines];
  for (const line of all) {
    const [, number, sql] = /^(\d): (.*)$/.exec(line)!;
    shadow.apply(Number(number), parseStatement(sql!, 'sqlite'));
  }
  const rows = shadow.view(session).get('t')?.rows;
  return rows === undefined ? 'no table' : isUndecidable(rows) ? 'unknown' : rows;
}

const one = [[1, 10]];
const both = [...one, [2, 20]];

describe('the shadow state', () => {
  it('follows writes, and what rolls them back', () => {
    expect(story('begin', ['0: DELETE FROM t WHERE b > 15'], 1)).toEqual(one);
    expect(story('begin', ['0: UPDATE t SET b = b + a WHERE a = 2'], 1)).toEqual([...one, [2, 22]]);
    expect(story('begin', ['0: BEGIN', '0: DELETE FROM t', '0: ROLLBACK'], 0)).toEqual(both);
    expect(story('begin', ['0: BEGIN', '0: DELETE FROM t'], 0)).toEqual([]);
    expect(story('begin', ['0: BEGIN', '0: DELETE FROM t'], 1)).toEqual(both);
    expect(story('begin', ['0: BEGIN', '0: DELETE FROM t', '0: COMMIT'], 1)).toEqual([]);
    expect(story('begin', ['0: DROP TABLE t'], 1)).toBe('no table');
  });

  it('returns to savepoints', () => {
    const lines = ['0: BEGIN', '0: DELETE FROM t WHERE a = 2', '0: SAVEPOINT s', '0: DELETE FROM t'];
    expect(story('begin', lines, 0)).toEqual([]);
    expect(story('begin', [...lines, '0: ROLLBACK TO s'], 0)).toEqual(one);
    expect(story('begin', [...lines, '0: RELEASE s', '0: COMMIT'], 1)).toEqual([]);
    expect(story('begin', [...lines, '0: ROLLBACK TO s', '0: COMMIT'], 1)).toEqual(one);
    expect(story('begin', [...lines, '0: ROLLBACK TO other'], 0)).toBe('unknown');
  });

  it('sees another session’s commit as the pivot says', () => {
    const commit = '1: DELETE FROM t WHERE a = 2';
    expect(story('begin', ['0: BEGIN', commit], 0)).toEqual(both);
    expect(story('first-statement', ['0: BEGIN', commit], 0)).toEqual(one);
    expect(story('first-read', ['0: BEGIN', '0: SELECT * FROM t', commit], 0)).toEqual(both);
    expect(story('statement', ['0: BEGIN', '0: SELECT * FROM t', commit], 0)).toEqual(one);
    expect(story('uncommitted', ['0: BEGIN', commit], 0)).toBe('unknown');
  });

  it('does not know what two writers of one table leave', () => {
    const lines = ['0: BEGIN', '0: UPDATE t SET b = 0 WHERE a = 1', '1: DELETE FROM t WHERE a = 2'];
    expect(story('begin', lines, 0)).toEqual([
      [1, 0],
      [2, 20],
    ]);
    expect(story('statement', lines, 0)).toBe('unknown');
    expect(story('begin', [...lines, '0: COMMIT'], 1)).toBe('unknown');
    expect(story('begin', [...lines, '0: COMMIT', '0: DELETE FROM t'], 1)).toEqual([]);
  });

  it('does not know a table after a statement it cannot follow', () => {
    expect(story('begin', ['0: INSERT OR IGNORE INTO t VALUES (3, 30)'], 0)).toBe('unknown');
    expect(story('begin', ['0: ALTER TABLE t ADD COLUMN c INT'], 0)).toBe('unknown');
    expect(story('begin', ['0: DELETE FROM t WHERE random() > 0'], 0)).toBe('unknown');
    expect(story('begin', ['0: VACUUM'], 0)).toEqual(both);
  });
});
