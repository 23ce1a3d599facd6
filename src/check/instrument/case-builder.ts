/** One attempt at rewriting a whole case over a catalog of widened tables; it ends at the first statement that resists. */
import {
  type CaseSession,
  type Schedule,
  type ScheduledCase,
  type StatementRef,
  transactionsOf,
} from '../../cases/index.js';
import { printStatement, type SelectStatement, type Statement } from '../../sql/index.js';
import { type Catalog, type CatalogTable, findTable, widenTable } from './catalog.js';
import { hideColumns, Unsupported } from './hide-columns.js';
import type {
  Instrumented,
  InstrumentOptions,
  ObservedQuery,
  StatementPlan,
  WritePlan,
} from './instrumented.js';
import { column, listColumn, refKey, ridColumn, writeToken } from './marks.js';
import { traceInsert } from './trace-insert.js';
import { type Scan, scanQuery, traceQuery } from './trace-query.js';
import { type TracedWrite, traceDelete, traceMerge, traceUpdate, type WriteContext } from './trace-write.js';
import { tableNames, walk } from './tree.js';

export interface Parsed {
  readonly sql: string;
  readonly statement: Statement;
  readonly ref?: StatementRef;
}

export interface ParsedCase {
  readonly setup: readonly Parsed[];
  readonly sessions: readonly (readonly Parsed[])[];
}

export class CaseBuilder {
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
        if (traced.tables !== undefined) this.#makers[id] = traced.tables[0]!;
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
    const write = traced.tables === undefined ? undefined : writePlan(traced, traced.tables, token, deletes);
    if (write !== undefined) this.#makers[token] = write.tables[0]!;
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

function writePlan(
  traced: TracedWrite,
  tables: readonly string[],
  token: string,
  deletes: boolean,
): WritePlan {
  return {
    token,
    tables,
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
