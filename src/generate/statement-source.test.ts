/** Single statements for tables that somebody else keeps, as laws over seeds, dialects and tables. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compilePredicate,
  type EvaluatedRow,
  type Expression,
  evaluateSelect,
  isUndecidable,
  parseStatement,
  printStatement,
  type Statement,
  tableShape,
} from '../sql/index.js';
import { findCapabilities } from './capabilities.js';
import { type Feature, optionsOf } from './features.js';
import { makeProfile, type Profile } from './profile.js';
import { Random } from './random.js';
import { createTable, ridColumn } from './schema.js';
import { featuresOf } from './statement-features.js';
import { type SourceTable, StatementSource } from './statement-source.js';

const dialects = ['postgres', 'mysql', 'sqlite', 'duckdb'] as const;
type Name = (typeof dialects)[number];
const seeds = fc.integer({ min: 0, max: 1e6 }).map(String);
const usual = makeProfile('test', '', { tables: [2, 2], columns: [1, 5] });

/** Two tables with some rows of their own, in a source that goes on from there. */
function lab(name: Name, seed: string, more: { profile?: Profile; refuses?: readonly Feature[] } = {}) {
  const known = findCapabilities(name)!;
  const capabilities = { ...known, unsupported: [...known.unsupported, ...(more.refuses ?? [])] };
  const source = new StatementSource(new Random(seed), more.profile ?? usual, capabilities);
  const { dialect } = capabilities;
  let tables: SourceTable[] = ['t', 'u'].map((each) => ({ model: source.table(each), rows: [] }));
  for (const { model } of tables) {
    const rows = source.newRows(tables, model.name, 4).map((row): EvaluatedRow => {
      return model.columns.map((column) => row[column.name] ?? null);
    });
    tables = tables.map((each) => (each.model === model ? { model, rows } : each));
  }
  const shape = tableShape(createTable(tables[0]!.model, dialect, true), dialect);
  const table = (wanted: string) => {
    const found = tables.find(({ model }) => model.name === wanted);
    if (found === undefined) return undefined;
    const { columns } = tableShape(createTable(found.model, dialect, true), dialect);
    return { columns, rows: found.rows };
  };
  const options = { dialect, table };
  const holds = (condition: Expression, row: EvaluatedRow) =>
    compilePredicate(
      condition,
      shape.columns.map((each) => ({ ...each, table: 't' })),
      options,
    )(row);
  return { source, tables, dialect, options, holds, rows: tables[0]!.rows };
}

/** One statement of every kind. */
function drawn({ source, tables }: ReturnType<typeof lab>): Statement[] {
  return [
    source.insert(tables, 't'),
    source.insertSelect(tables, 't'),
    source.delete(tables, 't'),
    source.select(tables, 't'),
    ...[source.update(tables, 't') ?? []].flat(),
  ];
}

describe.each(dialects)('statements for %s', (name) => {
  it('are the same for the same seed (seed 1)', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        expect(drawn(lab(name, seed))).toEqual(drawn(lab(name, seed)));
      }),
      { seed: 1, numRuns: 25 },
    );
  });

  it('read back as the trees they were (seed 2)', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { dialect, ...rest } = lab(name, seed);
        for (const statement of drawn({ dialect, ...rest })) {
          const sql = printStatement(statement, dialect);
          expect(parseStatement(sql, dialect).type, sql).toBe(statement.type);
          expect(printStatement(parseStatement(sql, dialect), dialect)).toBe(sql);
        }
      }),
      { seed: 2, numRuns: 40 },
    );
  });

  it('leave out one feature that is refused, whichever (seed 3)', () => {
    // Conditions on ids and comparisons are what is left when nothing else is; keys of two columns need an AND.
    // INSERT … SELECT names a range of ids by BETWEEN, and has no other form.
    const needed = ['rid', 'comparison', 'and'];
    const refusable = optionsOf('where')
      .filter((option) => !needed.includes(option))
      .map((option): Feature => `where.${option}`);
    fc.assert(
      fc.property(seeds, fc.constantFrom(...refusable), (seed, feature) => {
        const place = lab(name, seed, { refuses: [feature] });
        for (const statement of drawn(place).filter(({ type }) => type !== 'insert'))
          expect(
            featuresOf(statement, place.dialect),
            printStatement(statement, place.dialect),
          ).not.toContain(feature);
      }),
      { seed: 3, numRuns: 60 },
    );
  });

  it('have conditions that are true for the row they were made for (seed 4)', () => {
    fc.assert(
      fc.property(seeds, fc.nat(3), fc.boolean(), (seed, which, qualified) => {
        const { source, tables, holds, rows } = lab(name, seed);
        const row = rows[which]!;
        const condition = source.conditionFor(tables, 't', row, qualified);
        expect(holds(condition, row), JSON.stringify(condition)).toBe(true);
      }),
      { seed: 4, numRuns: 60 },
    );
  });

  it('select what the evaluator decides or leaves open, never a column that is not there (seed 5)', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { source, tables, options, dialect } = lab(name, seed);
        const query = source.select(tables, 't');
        const answer = evaluateSelect(query, options);
        const sql = printStatement(query, dialect);
        if (isUndecidable(answer))
          expect(answer.undecidable, sql).not.toMatch(/no (such )?(column|table)|unknown/i);
        else for (const row of answer.rows) expect(row, sql).toHaveLength(answer.columns.length);
      }),
      { seed: 5, numRuns: 60 },
    );
  });
});

describe('new rows', () => {
  it('have ids and keys that no row had, however often they are asked for (seed 6)', () => {
    fc.assert(
      fc.property(fc.constantFrom(...dialects), seeds, (name, seed) => {
        const { source, tables } = lab(name, seed);
        const { model, rows } = tables[0]!;
        const made = [...source.newRows(tables, 't', 3), ...source.newRows(tables, 't', 3)];
        const rids = [...rows.map((row) => row[0]), ...made.map((row) => row[ridColumn])];
        expect(new Set(rids).size).toBe(rids.length);
        const keysOf = (each: readonly (typeof made)[number][]) =>
          each.map((row) => JSON.stringify(model.key.map((column) => row[column])));
        if (model.key.length > 0) expect(new Set(keysOf(made.slice(0, 3))).size).toBe(3);
      }),
      { seed: 6, numRuns: 60 },
    );
  });

  it('fill every column that may be written, within its domain (seed 7)', () => {
    fc.assert(
      fc.property(fc.constantFrom(...dialects), seeds, (name, seed) => {
        const { source, tables } = lab(name, seed);
        const [row] = source.newRows(tables, 't', 1);
        for (const { name: column, role, nullable, domain } of tables[0]!.model.columns) {
          if (role === 'generated') expect(row).not.toHaveProperty(column);
          else if (row![column] === null) expect([column, nullable]).toEqual([column, true]);
          else if (role === 'plain') expect(domain).toContainEqual(row![column]);
        }
      }),
      { seed: 7, numRuns: 60 },
    );
  });

  it('are inserted as they are: the INSERT reads back with their values (seed 8)', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { source, tables } = lab('sqlite', seed);
        const rows = source.newRows(tables, 't', 2);
        const insert = source.insertOf(tables, 't', rows);
        expect(insert.columns?.[0]).toBe(ridColumn);
        const values = insert.source.type === 'values' ? insert.source.rows : [];
        expect(values.map(([rid]) => rid)).toEqual(
          rows.map((row) => expect.objectContaining({ type: 'literal', value: row[ridColumn] })),
        );
      }),
      { seed: 8, numRuns: 30 },
    );
  });
});

it('a table without a column that may change has no UPDATE', () => {
  const single = makeProfile('keys', '', {
    ...{
      columns: [1, 1],
      weights: { 'key.none': 0, 'key.single': 1, 'key.composite': 0, 'write.key-update': 0 },
    },
  } as Parameters<typeof makeProfile>[2]);
  const { source, tables, dialect } = lab('duckdb', '1', { profile: single });
  expect(tables[0]!.model.columns.map(({ role }) => role)).toEqual(['rid', 'key']);
  const update = source.update(tables, 't');
  if (update !== undefined) expect(printStatement(update, dialect)).not.toContain(`SET ${ridColumn}`);
});
