/**
 * The evaluator and the printer against the real thing: random statements on random small tables. Whatever the
 * evaluator decides must be what the engine answers, and a statement printed back must answer the same.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IsoldeError } from '../src/errors.js';
import { applyUpdate, evaluateWhere } from '../src/sql/evaluate/one-row.case.js';
import { randomFrom, TypedSql } from '../src/sql/evaluate/typed-sql.case.js';
import {
  applyInsert,
  type CreateTableStatement,
  type Evaluated,
  type EvaluateOptions,
  evaluateSelect,
  isUndecidable,
  parseStatement,
  printStatement,
  type Row,
  type Statement,
  tableShape,
  type Value,
  valueKey,
} from '../src/sql/index.js';
import { openTarget, type Scratch, type Session, type Target } from '../src/targets/index.js';

// More rounds, or others: ISOLDE_SQL_SEED=7 ISOLDE_SQL_ROUNDS=500 npx vitest run test/sql-engines.test.ts
const seed = Number(process.env.ISOLDE_SQL_SEED ?? 20240229);
const rounds = Number(process.env.ISOLDE_SQL_ROUNDS ?? 16);
const queriesPerRound = 25;
const writesPerRound = 12;

/** Values as bags of texts. PostgreSQL's and MySQL's sums of integers are decimals; that is part of what is compared. */
function rowKeys(rows: readonly Row[]): string[] {
  return rows.map((row) => row.map((value) => valueKey(value)).join(' | '));
}

describe.each([
  ['duckdb:', 'duckdb', 0.97],
  ['sqlite:', 'sqlite', 0.93],
  ['postgres:', 'postgres', 0.95],
  ['mariadb:', 'mysql', 0.8],
] as const)(`on %s with seed ${seed}`, (url, dialect, floor) => {
  let target: Target | undefined;
  let scratch: Scratch;
  let session: Session;
  let missing = '';
  let binaryOrder = false;

  beforeAll(async () => {
    try {
      target = await openTarget(url);
    } catch (error) {
      if (
        !(error instanceof IsoldeError) ||
        error.code !== 'engine-missing' ||
        process.env.ISOLDE_REQUIRE_ENGINES === '1'
      )
        throw error;
      missing = error.message;
      return;
    }
    scratch = await target.createScratch();
    if (dialect === 'postgres') {
      session = await open();
      const collation = await rowsOf('SELECT datcollate FROM pg_database WHERE datname = current_database()');
      binaryOrder = collation?.[0]?.[0] === 'C';
      await session.close();
    }
  });

  afterAll(async () => {
    await target?.close();
  });

  function open(): Promise<Session> {
    return scratch.openSession({
      level: target!.defaultLevel,
      statementTimeoutMs: 10_000,
      lockTimeoutMs: 1000,
    });
  }

  async function load(seedOfRound: number): Promise<{ sql: TypedSql; options: EvaluateOptions }> {
    const sql = new TypedSql(dialect, randomFrom(seedOfRound));
    await scratch.reset(
      sql.tables.flatMap(({ create, insert }) => (insert === undefined ? [create] : [create, insert])),
    );
    session = await open();
    const table: EvaluateOptions['table'] = (name) => sql.tables.find((candidate) => candidate.name === name);
    return { sql, options: { dialect, table, ...(binaryOrder ? { textOrder: 'binary' as const } : {}) } };
  }

  async function rowsOf(text: string): Promise<readonly Row[] | undefined> {
    const answer = await session.execute(text);
    return answer.error === undefined ? (answer.rows ?? []) : undefined;
  }

  test('every query it decides has the rows the engine returns, before and after printing', async (context) => {
    if (target === undefined) context.skip(missing);
    let ran = 0;
    let decided = 0;
    const failures = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      const { sql, options } = await load(seed + round);
      for (let i = 0; i < queriesPerRound; i++) {
        const text = sql.select();
        const statement = parseStatement(text, dialect);
        expect(statement.type, `${text}: ${JSON.stringify(statement)}`).toBe('select');
        const actual = await rowsOf(text);
        if (actual === undefined) continue;
        ran++;
        const printed = printStatement(statement, dialect);
        const again = await rowsOf(printed);
        expect(again, `${printed} fails, which was printed from ${text}`).toBeDefined();
        if (!/LIMIT/.test(text))
          expect(rowKeys(again!).sort(), `${text}\n${printed}`).toEqual(rowKeys(actual).sort());
        const result = evaluateSelect(statement as Extract<Statement, { type: 'select' }>, options);
        if (isUndecidable(result)) {
          failures.set(result.undecidable, (failures.get(result.undecidable) ?? 0) + 1);
          continue;
        }
        const unsure = result.rows.flat().find(isUndecidable);
        if (unsure !== undefined) {
          failures.set(unsure.undecidable, (failures.get(unsure.undecidable) ?? 0) + 1);
          continue;
        }
        decided++;
        const expected = rowKeys(result.rows as Row[]);
        const about = `seed ${seed + round}: ${text}\n${sql.tables.map(({ insert }) => insert ?? '').join('\n')}`;
        if (result.order === 'total') expect(expected, about).toEqual(rowKeys(actual));
        else expect(expected.sort(), about).toEqual(rowKeys(actual).sort());
      }
      await session.close();
    }
    if (process.env.ISOLDE_SQL_ROUNDS !== undefined)
      console.log(`${url} queries: ${ran} ran, ${decided} decided`, failures);
    expect(ran).toBeGreaterThan((rounds * queriesPerRound) / 2);
    expect(decided / ran).toBeGreaterThan(floor);
  });

  test('every write it decides leaves the rows the engine has', async (context) => {
    if (target === undefined) context.skip(missing);
    let ran = 0;
    let decided = 0;
    const failures = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      const { sql, options } = await load(seed + 1000 + round);
      const before = sql.tables[0]!.rows;
      const shape = tableShape(
        parseStatement(sql.tables[0]!.create, dialect) as CreateTableStatement,
        dialect,
      );
      for (let i = 0; i < writesPerRound; i++) {
        const text = sql.write();
        const statement = parseStatement(text, dialect);
        await session.execute('BEGIN');
        const answer = await session.execute(text);
        const actual = answer.error === undefined ? await rowsOf('SELECT * FROM t1') : undefined;
        await session.execute('ROLLBACK');
        if (actual === undefined) continue;
        ran++;
        const expected = rowsAfter(statement, before);
        const unsure = expected.flat().find(isUndecidable);
        if (unsure !== undefined) {
          failures.set(unsure.undecidable, (failures.get(unsure.undecidable) ?? 0) + 1);
          continue;
        }
        decided++;
        const about = `seed ${seed + 1000 + round}: ${text}\n${sql.tables.map(({ insert }) => insert ?? '').join('\n')}`;
        expect(rowKeys(expected as Value[][]).sort(), about).toEqual(rowKeys(actual).sort());
      }
      await session.close();

      function rowsAfter(statement: Statement, rows: readonly Row[]): Evaluated[][] {
        if (statement.type === 'insert') {
          const added = applyInsert(statement, shape, options);
          return isUndecidable(added) ? [[added]] : [...rows, ...added].map((row) => [...row]);
        }
        if (statement.type !== 'update' && statement.type !== 'delete')
          throw new Error(`${statement.type} is not a write`);
        return rows.flatMap((row): Evaluated[][] => {
          const touched = evaluateWhere(statement, shape, row, options);
          if (isUndecidable(touched)) return [[touched]];
          if (touched !== true) return [[...row]];
          if (statement.type === 'delete') return [];
          const changed = applyUpdate(statement, shape, row, options);
          return isUndecidable(changed) ? [[changed]] : [[...changed]];
        });
      }
    }
    if (process.env.ISOLDE_SQL_ROUNDS !== undefined)
      console.log(`${url} writes: ${ran} ran, ${decided} decided`, failures);
    expect(ran).toBeGreaterThan((rounds * writesPerRound) / 2);
    expect(decided / ran).toBeGreaterThan(floor);
  });
});
