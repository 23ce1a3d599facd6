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
 * Each statement of the new case knows the original one it stands for, so results and findings can be told in terms
 * of the original (`strip-results.ts`).
 */
import type { CaseSession, Schedule, ScheduledCase, StatementRef } from '../../cases/index.js';
import { transactionsOf } from '../../cases/index.js';
import {
  type Dialect,
  parseStatement,
  printStatement,
  type SelectStatement,
  type Statement,
} from '../../sql/index.js';
import { buildCatalog, type Catalog, type CatalogTable, findTable, nameKey, widenTable } from './catalog.js';
import { hideColumns, Unsupported } from './hide-columns.js';
import { column, listColumn, refKey, ridColumn, writeToken } from './marks.js';
import { type Scan, scanQuery, type TraceForm, traceQuery } from './trace-query.js';
import {
  type TracedWrite,
  traceDelete,
  traceInsert,
  traceMerge,
  traceUpdate,
  type WriteContext,
} from './trace-write.js';
import { tableNames, walk } from './tree.js';

export interface InstrumentOptions {
  /** The database has DELETE … RETURNING. Default: yes, except in MySQL's family, where only MariaDB has it. */
  readonly returning?: boolean;
  /** How many different conditions the observer asks again; default 100. */
  readonly conditions?: number;
}

/** What a statement of the instrumented case is, and what its result holds. */
export interface StatementPlan {
  /** The statement of the original case it stands for. */
  readonly original: StatementRef;
  /** A companion was added: the original statement follows it. */
  readonly role: 'statement' | 'companion';
  /** What the columns added behind the original ones hold. */
  readonly traces: readonly TraceForm[];
  /** What became of the rows it returns. */
  readonly rows: 'read' | 'written' | 'deleted';
  /** A locking read, or part of a write: it may see current rows where plain reads see a snapshot. */
  readonly locking: boolean;
  /** The original statement returns rows. */
  readonly answers: boolean;
  /** Index in `scans`: it returns every row that matches. */
  readonly scan?: number;
  readonly write?: WritePlan;
}

export interface WritePlan {
  readonly token: string;
  readonly table: string;
  readonly deletes: boolean;
  /** A row may hold the token more than once. */
  readonly repeats: boolean;
  /** The reported row count is the number of rows that got the token. */
  readonly counted: boolean;
  /** Rows may disappear without being named. */
  readonly unnamed: boolean;
}

export interface InstrumentedTable {
  readonly name: string;
  /** The columns a person knows a row by. */
  readonly label: readonly string[];
  /** Its columns as the observer's query returns them. */
  readonly columns: readonly string[];
  /** Foreign-key actions may change or delete rows without a mark. */
  readonly actions: boolean;
}

export type ObservedQuery =
  | { readonly type: 'state'; readonly table: string }
  | { readonly type: 'scan'; readonly scan: number };

export interface Instrumented {
  readonly original: ScheduledCase;
  /** What to run. */
  readonly scheduled: ScheduledCase;
  readonly dialect: Dialect;
  /** For the executor's option of the same name. */
  readonly observe: readonly string[];
  /** By session and position of the instrumented case. */
  readonly plans: readonly (readonly StatementPlan[])[];
  readonly observed: readonly ObservedQuery[];
  readonly tables: readonly InstrumentedTable[];
  readonly scans: readonly { readonly table: string; readonly sql: string }[];
  /** Which table the rows belong to whose ids begin so (`s2`, `3.2`). */
  readonly makers: Readonly<Record<string, string>>;
  /** Statements that run untouched because they were not understood; without `ref`: of the set-up. */
  readonly opaque: readonly { readonly ref?: StatementRef; readonly sql: string; readonly reason: string }[];
  /** Tables that carry no marks, and why. */
  readonly unseenTables: readonly { readonly name: string; readonly reason: string }[];
  /** Statements whose reads are not seen, and why. */
  readonly unseenReads: readonly { readonly ref: StatementRef; readonly reason: string }[];
}

/** Instruments a case for a dialect. Never fails: what cannot be instrumented runs as it is, and is listed. */
export function instrumentCase(
  scheduled: ScheduledCase,
  dialect: Dialect,
  options: InstrumentOptions = {},
): Instrumented {
  const unseen = new Map<string, { name: string; reason: string }>();
  const opaque = new Map<string, Instrumented['opaque'][number]>();
  const parsed = parseCase(scheduled, dialect);
  const all = [...parsed.setup, ...parsed.sessions.flat()];
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
    if (statement.type !== 'opaque' || isHarmless(statement)) continue;
    // A statement of which nothing is known may touch any table.
    refuse(each, statement.tables.length > 0 ? statement.tables : created, statement.reason);
  }
  for (;;) {
    const catalog = buildCatalog(
      parsed.setup.map(({ statement }) => statement),
      parsed.sessions.flat().map(({ statement }) => statement),
      new Set(unseen.keys()),
      dialect,
    );
    const builder = new Builder(scheduled, parsed, catalog, options);
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

interface Parsed {
  readonly sql: string;
  readonly statement: Statement;
  readonly ref?: StatementRef;
}

interface ParsedCase {
  readonly setup: readonly Parsed[];
  readonly sessions: readonly (readonly Parsed[])[];
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
  return /^\s*(LOCK|UNLOCK|ANALYZE|VACUUM|CHECKPOINT|SHOW|FLUSH|COMMENT|CREATE\s+(SCHEMA|SEQUENCE))\b/i.test(
    statement.sql,
  );
}

class Builder {
  readonly #sessions: CaseSession[] = [];
  readonly #plans: StatementPlan[][] = [];
  /** For each original statement, how many statements stand before it for its sake. */
  readonly #before = new Map<string, number>();
  readonly #scans = new Map<string, { index: number; table: string }>();
  readonly #makers: Record<string, string> = {};
  readonly #unseenReads: Instrumented['unseenReads'][number][] = [];
  #setup: string[] = [];

  constructor(
    private readonly source: ScheduledCase,
    private readonly parsed: ParsedCase,
    private readonly catalog: Catalog,
    private readonly options: InstrumentOptions,
  ) {}

  /** The statement that could not be rewritten, if there is one. */
  build(): { each: Parsed; reason: string } | undefined {
    let each: Parsed | undefined;
    try {
      this.#setup = this.parsed.setup.map((entry, i) => {
        each = entry;
        return this.#setupStatement(entry, i + 1);
      });
      let transaction = 0;
      for (const [s, session] of this.source.case.sessions.entries()) {
        const statements: string[] = [];
        const plans: StatementPlan[] = [];
        const spans = transactionsOf({ ...this.source.case, dialect: this.catalog.dialect }, s);
        for (const span of spans) {
          transaction++;
          for (let p = span.first; p <= span.last; p++) {
            each = this.parsed.sessions[s]![p]!;
            const place = p - span.first + (span.explicit ? 0 : 1);
            this.#statement(each, writeToken(transaction, place), span.explicit, statements, plans);
          }
        }
        this.#sessions.push({ ...session, statements });
        this.#plans.push(plans);
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof Unsupported) || each === undefined) throw error;
      return { each, reason: error.message };
    }
  }

  #setupStatement({ sql, statement }: Parsed, number: number): string {
    if (!this.#touches(statement)) return sql;
    refuseWritesInQueries(statement);
    const id = `s${number}`;
    const context: WriteContext = {
      catalog: this.catalog,
      id,
      inTransaction: false,
      deletes: 'locking-read',
    };
    switch (statement.type) {
      case 'create-table': {
        if (findTable(this.catalog, statement.name) === undefined) break;
        return this.#print(widenTable(statement));
      }
      case 'insert':
      case 'merge': {
        const hidden = hideColumns(statement, this.catalog);
        const traced = hidden.type === 'insert' ? traceInsert(hidden, context) : traceMerge(hidden, context);
        if (traced.table !== undefined) this.#makers[id] = traced.table;
        return this.#print(traced.statement);
      }
      case 'create-index':
      case 'opaque':
        return sql;
      default:
        break;
    }
    return this.#print(hideColumns(statement, this.catalog));
  }

  #statement(
    { sql, statement, ref }: Parsed,
    token: string,
    inTransaction: boolean,
    statements: string[],
    plans: StatementPlan[],
  ): void {
    const plain: StatementPlan = {
      original: ref!,
      role: 'statement',
      traces: [],
      rows: 'read',
      locking: false,
      answers: statement.type === 'select' || statement.type === 'opaque',
    };
    if (!this.#touches(statement) || statement.type === 'opaque' || statement.type === 'create-index') {
      statements.push(sql);
      plans.push({ ...plain, answers: plain.answers || 'returning' in statement });
      return;
    }
    refuseWritesInQueries(statement);
    const hidden = hideColumns(statement, this.catalog);
    if (hidden.type === 'select') {
      const traced = traceQuery(hidden, this.catalog);
      if (traced.untraced !== undefined) this.#unseenReads.push({ ref: ref!, reason: traced.untraced });
      const scan = traced.scan === undefined ? undefined : this.#scan(traced.scan);
      statements.push(this.#print(traced.query));
      plans.push({
        ...plain,
        traces: traced.traces,
        locking: hidden.locks.length > 0,
        ...(scan === undefined ? {} : { scan }),
      });
      return;
    }
    const traced = this.#traceWrite(hidden, token, inTransaction);
    if (traced === undefined) {
      statements.push(this.#print(hidden));
      plans.push(plain);
      return;
    }
    if (traced.companion !== undefined) {
      statements.push(this.#print(traced.companion));
      plans.push({ ...plain, role: 'companion', traces: ['pair'], rows: 'deleted', locking: true });
      this.#before.set(refKey(ref!), 1);
    }
    const deletes = hidden.type === 'delete';
    const write = traced.table === undefined ? undefined : writePlan(traced, traced.table, token, deletes);
    if (write !== undefined) this.#makers[token] = write.table;
    statements.push(this.#print(traced.statement));
    plans.push({
      ...plain,
      traces: traced.returns === true ? ['pair'] : [],
      rows: deletes ? 'deleted' : 'written',
      locking: true,
      answers: 'returning' in statement && statement.returning !== undefined,
      ...(write === undefined ? {} : { write }),
    });
  }

  #traceWrite(statement: Statement, token: string, inTransaction: boolean): TracedWrite | undefined {
    const { catalog } = this;
    const deletes = (this.options.returning ?? catalog.dialect !== 'mysql') ? 'returning' : 'locking-read';
    const context: WriteContext = { catalog, id: token, token, inTransaction, deletes };
    switch (statement.type) {
      case 'insert':
        return traceInsert(statement, context);
      case 'update':
        return traceUpdate(statement, context);
      case 'delete':
        return traceDelete(statement, context);
      case 'merge':
        return traceMerge(statement, context);
      default:
        return undefined;
    }
  }

  #scan(scan: Scan): number | undefined {
    const sql = this.#print(scanQuery(scan));
    const known = this.#scans.get(sql);
    if (known !== undefined) return known.index;
    if (this.#scans.size >= (this.options.conditions ?? 100)) return undefined;
    const index = this.#scans.size;
    this.#scans.set(sql, { index, table: findTable(this.catalog, scan.from.name)!.name });
    return index;
  }

  #touches(statement: Statement): boolean {
    if (statement.type === 'create-table' && findTable(this.catalog, statement.name) !== undefined)
      return true;
    return tableNames(statement).some((name) => findTable(this.catalog, name) !== undefined);
  }

  #print(statement: Statement): string {
    return printStatement(statement, this.catalog.dialect);
  }

  result(opaque: Instrumented['opaque'], unseenTables: Instrumented['unseenTables']): Instrumented {
    const { source, catalog } = this;
    const tables = [...catalog.tables.values()];
    const scans = [...this.#scans].map(([sql, { table }]) => ({ table, sql }));
    const { schedule } = source;
    return {
      original: source,
      scheduled: {
        case: {
          ...source.case,
          dialect: catalog.dialect,
          setup: this.#setup,
          sessions: this.#sessions,
        },
        ...(schedule === undefined ? {} : { schedule: this.#schedule(schedule) }),
      },
      dialect: catalog.dialect,
      observe: [...tables.map((table) => this.#print(stateQuery(table))), ...scans.map(({ sql }) => sql)],
      observed: [
        ...tables.map(({ name }): ObservedQuery => ({ type: 'state', table: name })),
        ...scans.map((_, scan): ObservedQuery => ({ type: 'scan', scan })),
      ],
      plans: this.#plans,
      tables: tables.map(({ name, columns, keys, actions }) => ({
        name,
        label: keys[0] ?? columns.slice(0, 1),
        columns,
        actions,
      })),
      scans,
      makers: this.#makers,
      opaque,
      unseenTables,
      unseenReads: this.#unseenReads,
    };
  }

  /** Companions go right before the batch of the statement they belong to. */
  #schedule(schedule: Schedule): Schedule {
    const shifted = this.source.case.sessions.map(() => 0);
    const moved = new Map<string, StatementRef>();
    const batches: StatementRef[][] = [];
    for (const batch of schedule.batches) {
      const companions: StatementRef[] = [];
      const own = batch.map((ref): StatementRef => {
        const [s, p] = ref;
        if (this.#before.has(refKey(ref))) {
          companions.push([s, p + shifted[s]!]);
          shifted[s]!++;
        }
        const at: StatementRef = [s, p + shifted[s]!];
        moved.set(refKey(ref), at);
        return at;
      });
      if (companions.length > 0) batches.push(companions);
      batches.push(own);
    }
    const at = (ref: StatementRef): StatementRef => moved.get(refKey(ref)) ?? ref;
    const { reasons } = schedule;
    if (reasons === undefined) return { batches };
    return {
      batches,
      reasons: reasons.map(({ before, after, why }) => ({ before: at(before), after: at(after), why })),
    };
  }
}

function writePlan(traced: TracedWrite, table: string, token: string, deletes: boolean): WritePlan {
  return {
    token,
    table,
    deletes,
    repeats: traced.repeats === true,
    counted: traced.counted === true,
    unnamed: traced.unnamed === true,
  };
}

function stateQuery(table: CatalogTable): SelectStatement {
  const names = [...table.columns, ridColumn, listColumn];
  return {
    type: 'select',
    body: {
      type: 'core',
      distinct: false,
      items: names.map((name) => ({ type: 'item', expression: column(name) })),
      from: [{ type: 'table', name: table.name }],
      groupBy: [],
    },
    orderBy: [],
    locks: [],
  };
}

/** PostgreSQL's WITH x AS (DELETE …): two writes in one statement would need two marks. */
function refuseWritesInQueries(statement: Statement): void {
  walk(statement, (node) => {
    const writes = node.type === 'insert' || node.type === 'update' || node.type === 'delete';
    if (writes && (node as unknown) !== statement && 'table' in node) {
      throw new Unsupported('a write inside another statement');
    }
  });
}
