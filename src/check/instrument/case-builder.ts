/** One attempt at rewriting a whole case over a catalog of widened tables; it ends at the first statement that resists. */

import {
  type CaseSession,
  type Schedule,
  type ScheduledCase,
  type StatementRef,
  type TransactionSpan,
  transactionsOf,
} from '../../cases/index.js';
import { wholeColumns } from '../../rows/index.js';
import { printStatement, type SelectStatement, type Statement } from '../../sql/index.js';
import { type Catalog, type CatalogTable, findTable, widenTable } from './catalog.js';
import { hideColumns, Unsupported } from './hide-columns.js';
import type {
  Frame,
  Instrumented,
  InstrumentOptions,
  ObservedQuery,
  PlannedSearch,
  StatementPlan,
  WritePlan,
} from './instrumented.js';
import { column, listColumn, readsColumn, refKey, ridColumn, writeToken } from './marks.js';
import type { Scan } from './read-again.js';
import { markDelete, traceDelete } from './trace-delete.js';
import { traceInsert } from './trace-insert.js';
import { type Search, scanQuery, traceQuery } from './trace-query.js';
import { companionWay } from './trace-reads.js';
import { type TracedWrite, traceMerge, traceUpdate, type WriteContext } from './trace-write.js';
import { subqueriesOf, tableNames, walk } from './tree.js';

export interface Parsed {
  readonly sql: string;
  readonly statement: Statement;
  readonly ref?: StatementRef;
}

export interface ParsedCase {
  readonly setup: readonly Parsed[];
  readonly sessions: readonly (readonly Parsed[])[];
}

type Way = Pick<WriteContext, 'inTransaction' | 'way' | 'marksOnly'> & {
  /** Rows that a plain read shows stay as they are until the transaction ends. */
  readonly keepsRead?: boolean;
};

/** What a session of the instrumented case sends, and what it means. */
interface SessionOutput {
  readonly statements: string[];
  readonly plans: StatementPlan[];
}

/** Where a statement's rewriting goes. */
interface Sent {
  readonly token: string;
  readonly plain: StatementPlan;
  readonly put: (text: string, plan: StatementPlan) => void;
}

interface WriteSent {
  readonly traced: TracedWrite;
  readonly token: string;
  readonly deletes: boolean;
  /** The original statement has a RETURNING of its own. */
  readonly returns: boolean;
}

export class CaseBuilder {
  readonly #sessions: CaseSession[] = [];
  readonly #plans: StatementPlan[][] = [];
  /** For each original statement, how many statements stand around it for its sake. */
  readonly #around = new Map<string, { readonly before: number; readonly after: number }>();
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
          const way = this.#wayOf(s, span);
          for (let p = span.first; p <= span.last; p++) {
            each = this.parsed.sessions[s]![p]!;
            if (this.#isLeftOut([s, p])) continue;
            const place = p - span.first + (span.explicit ? 0 : 1);
            this.#statement(each, writeToken(transaction, place), way, { statements, plans });
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
      way: 'none',
    };
    switch (statement.type) {
      case 'create-table': {
        const table = findTable(this.catalog, statement.name);
        if (table === undefined) break;
        return this.#print(
          widenTable(statement, table, { dialect: this.catalog.dialect, textType: this.options.textType }),
        );
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

  #statement({ sql, statement, ref }: Parsed, token: string, way: Way, out: SessionOutput): void {
    const plain: StatementPlan = {
      original: ref!,
      role: 'statement',
      traces: [],
      rows: 'read',
      locking: false,
      searches: [],
      answers: statement.type === 'select' || statement.type === 'opaque',
    };
    const put = (text: string, plan: StatementPlan) => {
      out.statements.push(text);
      out.plans.push(plan);
    };
    if (!this.#touches(statement) || statement.type === 'opaque' || statement.type === 'create-index') {
      put(sql, { ...plain, answers: plain.answers || 'returning' in statement });
      return;
    }
    refuseWritesInQueries(statement);
    const hidden = hideColumns(statement, this.catalog);
    if (this.options.frame !== undefined) {
      this.#framed(hidden, this.options.frame(ref!), { token, plain, put });
      return;
    }
    if (hidden.type === 'select') {
      const traced = traceQuery(hidden, this.catalog);
      if (traced.untraced !== undefined) this.#unseenReads.push({ ref: ref!, reason: traced.untraced });
      put(this.#print(traced.query), {
        ...plain,
        traces: traced.traces,
        locking: hidden.locks.length > 0,
        searches: this.#searches(traced.searches),
      });
      return;
    }
    if (this.options.joinsTexts === false && subqueriesOf(hidden).length > 0)
      this.#unseenReads.push({ ref: ref!, reason: 'the database has no aggregate that joins texts' });
    const traced = this.#traceWrite(hidden, token, way);
    if (traced === undefined) put(this.#print(hidden), plain);
    else {
      const returns = 'returning' in statement && statement.returning !== undefined;
      this.#write({ traced, token, deletes: hidden.type === 'delete', returns }, plain, put);
    }
  }

  /** A statement that leaves marks and nothing else, between reads of whole tables. */
  #framed(hidden: Statement, frame: Frame, { token, plain, put }: Sent): void {
    const sent = { before: 0, after: 0 };
    const read = (when: keyof Frame) => {
      for (const { table, locking } of frame[when]) {
        const found = findTable(this.catalog, table);
        // It could not be widened, for a reason that `unseenTables` names.
        if (found === undefined) continue;
        const locks: SelectStatement['locks'] = locking ? [{ strength: 'share mode', of: [] }] : [];
        const query = this.#print({ ...stateQuery(found), locks });
        sent[when]++;
        put(query, {
          ...plain,
          role: 'companion',
          locking,
          answers: false,
          frame: { table: found.name, when },
        });
      }
    };
    read('before');
    const traced = this.#traceWrite(hidden, token, { inTransaction: false, way: 'none', marksOnly: true });
    const tables = traced?.tables;
    if (tables !== undefined) this.#makers[token] = tables[0]!;
    put(this.#print(traced?.statement ?? hidden), {
      ...plain,
      traces: traced?.traces ?? [],
      answers: plain.answers || ('returning' in hidden && hidden.returning !== undefined),
      ...(tables !== undefined && {
        rows: 'written',
        // Nobody asks its condition again: the reads around it show more.
        write: this.#writePlan({ statement: traced!.statement }, tables, {
          token,
          deletes: hidden.type === 'delete',
          locking: false,
        }),
      }),
    });
    read('after');
    this.#around.set(refKey(plain.original), sent);
  }

  #isLeftOut(ref: StatementRef): boolean {
    return this.options.leaveOut?.has(refKey(ref)) === true;
  }

  /** A traced write, behind the companions that look at rows before it. */
  #write(
    { traced, token, deletes, returns }: WriteSent,
    plain: StatementPlan,
    put: (text: string, plan: StatementPlan) => void,
  ): void {
    // Reads inside a write see current rows in MySQL's family, what plain reads see elsewhere.
    const locking = this.catalog.dialect === 'mysql';
    const companions = (traced.companions ?? []).filter((each) => each !== undefined);
    for (const { query, traces, searches, rows, matches } of companions)
      put(this.#print(query), {
        ...plain,
        role: 'companion',
        traces,
        rows,
        locking,
        searches: this.#searches(this.#worthwhile(locking) ? searches : []),
        ...(matches === true ? { matches } : {}),
      });
    const { original } = plain;
    this.#around.set(refKey(original), { before: companions.length, after: 0 });
    if (traced.unseen === true)
      this.#unseenReads.push({ ref: original, reason: 'nothing returns what it reads' });
    const write =
      traced.tables === undefined
        ? undefined
        : this.#writePlan(traced, traced.tables, { token, deletes, locking });
    if (write !== undefined) this.#makers[token] = write.tables[0]!;
    put(this.#print(traced.statement), {
      ...plain,
      traces: traced.traces ?? [],
      searches: this.#searches(this.#worthwhile(locking) ? (traced.searches ?? []) : []),
      rows: deletes ? 'deleted' : 'written',
      locking,
      answers: returns,
      ...(write === undefined ? {} : { write }),
    });
  }

  #traceWrite(statement: Statement, token: string, way: Way): TracedWrite | undefined {
    const { catalog } = this;
    const deletes = this.#namesDeleted(way);
    const context: WriteContext = { catalog, id: token, token, deletes, ...way };
    switch (statement.type) {
      case 'insert':
        return traceInsert(statement, context);
      case 'update':
        return traceUpdate(statement, context);
      case 'delete':
        return way.marksOnly === true ? markDelete(statement, context) : traceDelete(statement, context);
      case 'merge':
        return traceMerge(statement, context);
      default:
        return undefined;
    }
  }

  #namesDeleted({ way, keepsRead }: Way): WriteContext['deletes'] {
    const { returning = this.catalog.dialect !== 'mysql', rowLocks } = this.options;
    if (returning) return 'returning';
    return rowLocks !== false || way === 'snapshot' || keepsRead === true ? 'locking-read' : 'nothing';
  }

  /** What a transaction's companions may do. One that chooses its level itself may not run as the contract says. */
  #wayOf(session: number, { first, last, explicit }: TransactionSpan): Way {
    const { contract } = this.options;
    const { case: program } = this.source;
    const level = program.sessions[session]!.level;
    const own = this.parsed.sessions[session]!.slice(first, last + 1).some(({ sql }) =>
      /^\s*SET\b|\bISOLATION\b/i.test(sql),
    );
    const other = own || (level !== undefined && level !== contract?.level);
    return {
      inTransaction: explicit,
      keepsRead: !other && contract?.mechanism?.readsLock === true,
      way: other && this.catalog.dialect !== 'duckdb' ? 'none' : companionWay(contract, this.catalog.dialect),
    };
  }

  /** Whether a contract says anything about what such searches miss: others than plain reads must not, only rarely. */
  #worthwhile(locking: boolean): boolean {
    const { contract } = this.options;
    if (!locking || contract?.mechanism === undefined) return true;
    return contract.forbids.includes('G2') || contract.forbids.includes('G-single');
  }

  #writePlan(
    traced: TracedWrite,
    tables: readonly string[],
    { token, deletes, locking }: { token: string; deletes: boolean; locking: boolean },
  ): WritePlan {
    const noted = traced.noted ?? [];
    // The rows to write are found as the engine finds rows to write, which need not be in the snapshot.
    const scan = traced.scan === undefined || !this.#worthwhile(true) ? undefined : this.#scan(traced.scan);
    return {
      token,
      tables,
      deletes,
      repeats: traced.repeats === true,
      counted: traced.counted === true,
      unnamed: traced.unnamed === true,
      ...(scan === undefined ? {} : { scan }),
      noted: noted.length,
      notedScans: noted.flatMap(({ scan: search }, list) => {
        const index = search === undefined || !this.#worthwhile(locking) ? undefined : this.#scan(search);
        return index === undefined ? [] : [{ list, scan: index }];
      }),
      readBefore: (traced.companions ?? []).some((each) => each?.rows === 'read'),
    };
  }

  #searches(searches: readonly Search[]): PlannedSearch[] {
    return searches.flatMap(({ trace, scan, decides }) => {
      const index = this.#scan(scan);
      return index === undefined ? [] : [{ trace, scan: index, decides }];
    });
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
      tables: tables.map(({ name, columns, indexes, actions, notes }) => ({
        name,
        label: wholeKey(indexes) ?? columns.slice(0, 1),
        columns,
        actions,
        notes,
      })),
      scans,
      makers: this.#makers,
      opaque,
      unseenTables,
      unseenReads: this.#unseenReads,
    };
  }

  /** Companions go right before and after the batch of the statement they belong to. */
  #schedule(schedule: Schedule): Schedule {
    const shifted = this.source.case.sessions.map(() => 0);
    const moved = new Map<string, StatementRef>();
    const batches: StatementRef[][] = [];
    for (const batch of schedule.batches) {
      const own: StatementRef[] = [];
      const [before, after]: [StatementRef[], StatementRef[]] = [[], []];
      for (const ref of batch) {
        const [s, p] = ref;
        if (this.#isLeftOut(ref)) {
          shifted[s]!--;
          continue;
        }
        const around = this.#around.get(refKey(ref)) ?? { before: 0, after: 0 };
        const first = p + shifted[s]!;
        for (let n = 0; n < around.before; n++) before.push([s, first + n]);
        const at: StatementRef = [s, first + around.before];
        for (let n = 1; n <= around.after; n++) after.push([s, at[1] + n]);
        shifted[s] = shifted[s]! + around.before + around.after;
        moved.set(refKey(ref), at);
        own.push(at);
      }
      for (const companion of before) batches.push([companion]);
      if (own.length > 0) batches.push(own);
      for (const companion of after) batches.push([companion]);
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

function stateQuery(table: CatalogTable): SelectStatement {
  const names = [...table.columns, ...(table.notes ? [readsColumn] : []), ridColumn, listColumn];
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

/** The first key of whole columns. */
function wholeKey(indexes: CatalogTable['indexes']): readonly string[] | undefined {
  return indexes
    .flatMap((index) => (index.unique ? [wholeColumns(index)] : []))
    .find((key) => key !== undefined);
}
