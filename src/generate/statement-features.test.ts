/** Features told from a statement's tree: one row per feature, so that what is blamed for an error is what was drawn. */
import { describe, expect, it } from 'vitest';
import { type Dialect, parseExpressionText, parseStatement } from '../sql/index.js';
import { capabilitiesOf, findCapabilities, knownTargets } from './capabilities.js';
import { allFeatures, type Feature, featureGroups } from './features.js';
import { featuresOf, whereFeatures } from './statement-features.js';

const features = (sql: string, dialect: Dialect = 'postgres') =>
  featuresOf(parseStatement(sql, dialect), dialect);

describe('a statement', () => {
  it.each<[sql: string, found: readonly Feature[]]>([
    ['SELECT a FROM t', ['statement.select']],
    ['SELECT * FROM t', ['statement.select', 'detail.star']],
    ['SELECT DISTINCT a FROM t', ['statement.select', 'detail.distinct']],
    ['SELECT a FROM t ORDER BY a LIMIT 1', ['statement.select', 'detail.order-by', 'detail.limit']],
    ['SELECT a + 1 FROM t', ['statement.select', 'detail.arithmetic']],
    ['SELECT CASE WHEN a = 1 THEN 1 END FROM t', ['statement.select', 'detail.case']],
    ['SELECT COUNT(*) FROM t', ['statement.select', 'select.aggregate']],
    ['SELECT a FROM t GROUP BY a HAVING a > 1', ['statement.select', 'select.group-by', 'select.having']],
    ['SELECT t.a FROM t JOIN u ON t.a = u.a', ['statement.select', 'select.inner-join']],
    ['SELECT t.a FROM t LEFT JOIN u ON t.a = u.a', ['statement.select', 'select.left-join']],
    ['SELECT t.a FROM t CROSS JOIN u', ['statement.select', 'select.cross-join']],
    ['SELECT a FROM (SELECT a FROM t) AS x', ['statement.select', 'select.derived']],
    ['WITH c AS (SELECT a FROM t) SELECT a FROM c', ['statement.select', 'select.cte']],
    ['SELECT a FROM t UNION SELECT a FROM u', ['statement.select', 'select.union']],
    ['SELECT a FROM t EXCEPT SELECT a FROM u', ['statement.select', 'select.except']],
    [
      'SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t',
      ['statement.select', 'select.window', 'window.row-number'],
    ],
    ['SELECT a FROM t FOR UPDATE', ['statement.select', 'lock.update']],
    ['SELECT a FROM t FOR SHARE NOWAIT', ['statement.select', 'lock.share', 'wait.nowait']],
    ['SELECT a FROM t FOR UPDATE SKIP LOCKED', ['statement.select', 'lock.update', 'wait.skip-locked']],
    ['INSERT INTO t VALUES (1)', ['statement.insert']],
    ['INSERT INTO t VALUES (1), (2)', ['statement.insert', 'write.multi-row']],
    ['INSERT INTO t SELECT a FROM u', ['statement.insert-select']],
    ['INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING', ['statement.upsert']],
    ['INSERT INTO t VALUES (1) RETURNING a', ['statement.insert', 'write.returning']],
    ['UPDATE t SET a = 1', ['statement.update', 'set.constant']],
    ['UPDATE t SET a = a', ['statement.update', 'set.no-op']],
    ['UPDATE t SET a = a + 1', ['statement.update', 'set.expression']],
    ['UPDATE t SET a = CASE WHEN a = 1 THEN 2 END', ['statement.update', 'set.case']],
    ['UPDATE t SET a = (SELECT b FROM u)', ['statement.update', 'set.subquery']],
    ['DELETE FROM t', ['statement.delete']],
    [
      'DELETE FROM t WHERE a IN (SELECT a FROM t)',
      ['statement.delete', 'write.self-subquery', 'where.in-query'],
    ],
    ['BEGIN', ['begin.plain']],
    ['BEGIN READ ONLY', ['begin.read-only']],
    ['COMMIT', ['end.commit']],
    ['ROLLBACK', ['end.rollback']],
    ['SAVEPOINT s', ['statement.savepoint']],
    ['ROLLBACK TO s', ['statement.savepoint']],
    ['CREATE INDEX i ON t (a)', ['index.secondary', 'statement.index']],
    ['CREATE INDEX i ON t (a, b)', ['index.composite', 'statement.index']],
    ['CREATE INDEX i ON t (a) WHERE a > 1', ['index.partial', 'statement.index', 'where.comparison']],
    ['DROP INDEX i', ['statement.index']],
    ['DROP TABLE t', ['statement.table']],
    ['CREATE TABLE t (a INT)', ['key.none', 'type.int']],
    [
      'CREATE TABLE t (a INT PRIMARY KEY, b TEXT UNIQUE)',
      ['key.single', 'type.int', 'type.text', 'column.unique'],
    ],
    [
      'CREATE TABLE t (a INT NOT NULL DEFAULT 1 CHECK (a > 0), b INT REFERENCES u (a))',
      ['key.none', 'type.int', 'column.not-null', 'column.default', 'column.check'],
    ],
    ['SET x = 1', []],
  ])('%s', (sql, found) => {
    const seen = new Set(features(sql));
    for (const feature of found) expect(seen, feature).toContain(feature);
    // Nothing of another group is blamed.
    const groups = new Set(found.map((feature) => feature.split('.')[0]));
    expect([...seen].filter((feature) => !groups.has(feature.split('.')[0]!))).toEqual([]);
  });

  it('of MySQL and SQLite has the features of their spellings', () => {
    expect(features('REPLACE INTO t VALUES (1)', 'mysql')).toContain('statement.replace');
    expect(features('INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1', 'mysql')).toContain(
      'statement.upsert',
    );
    expect(features('START TRANSACTION WITH CONSISTENT SNAPSHOT', 'mysql')).toContain('begin.snapshot');
    expect(features('BEGIN IMMEDIATE', 'sqlite')).toContain('begin.immediate');
  });
});

describe('a condition', () => {
  it.each<[sql: string, found: readonly Feature[]]>([
    ['a = 1', ['where.comparison']],
    ['a + 1 = 2', ['where.arithmetic']],
    ['CASE WHEN a = 1 THEN 1 END = 1', ['where.case']],
    ['a = (SELECT 1)', ['where.scalar']],
    ['a = 1 AND b > 2', ['where.and', 'where.comparison', 'where.comparison']],
    ['a = 1 OR NOT b = 2', ['where.or', 'where.comparison', 'where.not', 'where.comparison']],
    ['a BETWEEN 1 AND 2', ['where.between']],
    ['a IN (1, 2)', ['where.in-list']],
    ['a IN (SELECT 1)', ['where.in-query']],
    ["s LIKE 'a%'", ['where.like']],
    ['a IS NULL', ['where.is-null']],
    ['EXISTS (SELECT 1 FROM u)', ['where.exists']],
    ['EXISTS (SELECT 1 FROM u WHERE u.a = t.a)', ['where.correlated']],
    ['EXISTS (SELECT 1 FROM u AS x WHERE x.a = 1)', ['where.exists']],
  ])('%s', (sql, found) => {
    expect(whereFeatures(parseExpressionText(sql, 'postgres')!)).toEqual(found);
  });
});

describe('capabilities', () => {
  it('of every declared target name only features there are', () => {
    for (const name of knownTargets) {
      const unknown = findCapabilities(name)!.unsupported.filter((feature) => !allFeatures.includes(feature));
      expect(unknown, name).toEqual([]);
    }
  });

  it('of a target nobody knows are those of its dialect', () => {
    const own = capabilitiesOf({ name: 'newdb', dialect: 'sqlite' });
    const { indexes: _, ...usual } = findCapabilities('sqlite')!;
    expect(own).toEqual({ ...usual, target: 'newdb' });
    expect(findCapabilities('newdb')).toBeUndefined();
    expect(findCapabilities('constructor')).toBeUndefined();
  });

  it('of a cluster with read-only nodes let sessions that only read be drawn', () => {
    const nodes = [{ name: 'a' }, { name: 'b', readOnly: true }] as never;
    expect(capabilitiesOf({ name: 'postgres', dialect: 'postgres', nodes }).readers).toBe(true);
    expect(capabilitiesOf({ name: 'postgres', dialect: 'postgres' })).not.toHaveProperty('readers');
  });

  it('leave something to draw in every group', () => {
    for (const name of knownTargets) {
      const { unsupported } = findCapabilities(name)!;
      for (const [group, { draw, options }] of Object.entries(featureGroups)) {
        if (draw !== 'one' || (group === 'window' && unsupported.includes('select.window'))) continue;
        const left = Object.keys(options).filter(
          (option) => !unsupported.includes(`${group}.${option}` as Feature),
        );
        expect(left, `${name} ${group}`).not.toEqual([]);
      }
    }
  });
});
