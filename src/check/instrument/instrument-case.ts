/**
 * From a case to the same case with its rows and versions made visible (IsoRel, ISSTA 2025, §3.1 and §3.2).
 *
 * 1. Parse everything. A statement that is not understood stays as it is, and so do the tables it touches.
 * 2. Give every other table the set-up creates two columns (`marks.ts`), and its initial rows their ids and lists.
 * 3. Rewrite each statement so that it means what it meant (`hide-columns.ts`) and leaves or returns marks
 *    (`trace-query.ts`, `trace-write.ts`). If one cannot be, start again with its tables left as they are.
 * 4. List the queries of the observer: the state of every table, and who matches each condition a complete search used.
 *    Run before and after the case, they show versions that no statement of the case read again.
 *
 * Each statement of the new case knows the original one it stands for, so results and findings can be given in terms
 * of the original (`strip-results.ts`).
 */
import type { ScheduledCase } from '../../cases/index.js';
import { keepsRowsOfFailed, reachesAnyTable, touchesNoRows } from '../../rows/index.js';
import { type Dialect, nameKey, parseStatement, type Statement } from '../../sql/index.js';
import { CaseBuilder, type Parsed, type ParsedCase } from './case-builder.js';
import { buildCatalog, findTable } from './catalog.js';
import type { Instrumented, InstrumentOptions } from './instrumented.js';
import { refKey } from './marks.js';
import { tableNames } from './tree.js';

/** Instruments a case for a dialect. Never fails: what cannot be instrumented runs as it is, and is listed. */
export function instrumentCase(
  scheduled: ScheduledCase,
  dialect: Dialect,
  options: InstrumentOptions = {},
): Instrumented {
  const unseen = new Map<string, { name: string; reason: string }>();
  const opaque = new Map<string, Instrumented['opaque'][number]>();
  const parsed = parseCase(scheduled, dialect);
  const sent = parsed.sessions.flat().filter(({ ref }) => options.leaveOut?.has(refKey(ref!)) !== true);
  const all = [...parsed.setup, ...sent];
  const created = parsed.setup.flatMap((each) =>
    each.statement.type === 'create-table' ? [each.statement.name] : [],
  );
  const refuse = (each: Parsed, names: readonly string[], reason: string) => {
    opaque.set(each.ref === undefined ? `setup ${each.sql}` : refKey(each.ref), {
      ...(each.ref === undefined ? {} : { ref: each.ref }),
      sql: each.sql,
      reason,
    });
    for (const name of names) {
      const key = nameKey(name, dialect);
      if (!unseen.has(key)) unseen.set(key, { name, reason: `${reason}: ${each.sql}` });
    }
  };
  for (const each of all) {
    const { statement } = each;
    if (keepsRowsOfFailed(each.sql, dialect))
      refuse(each, tableNames(statement), 'it may fail and keep what it wrote');
    if (statement.type !== 'opaque' || isHarmless(statement)) continue;
    // A statement of which nothing is known may touch any table.
    const named = statement.tables.length > 0 && !reachesAnyTable(each.sql);
    refuse(each, named ? statement.tables : created, statement.reason);
  }
  for (;;) {
    const catalog = buildCatalog({
      dialect,
      words: options,
      setup: parsed.setup.map(({ statement }) => statement),
      sessions: sent.map(({ statement }) => statement),
      excluded: new Set(unseen.keys()),
      notes: options.frame === undefined,
    });
    const builder = new CaseBuilder(scheduled, parsed, catalog, options);
    const refused = builder.build();
    if (refused === undefined) {
      const seen = (name: string) => findTable(catalog, name) !== undefined;
      const others = created.filter((name) => !seen(name) && !unseen.has(nameKey(name, dialect)));
      return builder.result(
        [...opaque.values()],
        [
          ...[...unseen.values()].filter(({ name }) =>
            created.some((each) => nameKey(each, dialect) === nameKey(name, dialect)),
          ),
          ...others.map((name) => ({
            name,
            reason: 'its definition changes during the case, or is not a plain one',
          })),
        ],
      );
    }
    const names = tableNames(refused.each.statement).filter((name) => findTable(catalog, name) !== undefined);
    refuse(refused.each, names, refused.reason);
    // Without a table to leave out there is nothing to gain from another round.
    if (names.length === 0) throw new Error(`cannot leave out "${refused.each.sql}": ${refused.reason}`);
  }
}

function parseCase({ case: program }: ScheduledCase, dialect: Dialect): ParsedCase {
  const parse = (sql: string): Parsed => ({ sql, statement: parseStatement(sql, dialect) });
  return {
    setup: program.setup.map(parse),
    sessions: program.sessions.map(({ statements }, s) =>
      statements.map((sql, p): Parsed => ({ ...parse(sql), ref: [s, p] })),
    ),
  };
}

const controlKinds = new Set(['begin', 'commit', 'rollback', 'savepoint', 'release', 'rollback-to', 'set']);

/** Control statements, and those that neither read nor write rows nor show columns. */
function isHarmless(statement: Statement & { type: 'opaque' }): boolean {
  if (controlKinds.has(statement.kind)) return true;
  if (/^\s*ANALY[SZ]E\b/i.test(statement.sql)) return touchesNoRows(statement.sql);
  return /^\s*(LOCK|UNLOCK|VACUUM|CHECKPOINT|SHOW|FLUSH|COMMENT|CREATE\s+(SCHEMA|SEQUENCE))\b/i.test(
    statement.sql,
  );
}
