/**
 * Templates: a case that once showed something (a probe's, a found bug's) as a skeleton, mutated and dressed so that it
 * may show the same thing elsewhere, or something near it. IsoRel names this as its future work.
 *
 * The skeleton's order between sessions is kept; what changes is drawn from the seed:
 * - dress: other names, a `rid` column, more columns, more rows, an index, a key taken away;
 * - values: all whole-number constants are moved by one increasing function, which keeps `=` and `<` between them;
 * - predicates: another spelling of the same condition, or now and then a wider one;
 * - statements: harmless queries in between, a COMMIT that becomes a ROLLBACK;
 * - sessions: one of them twice, statement by statement.
 *
 * A statement that is not in our grammar stays as it is; then names and columns stay too, for it may mention them.
 */
import { type Case, type ScheduledCase, type StatementRef, serialOrder, totalOrder } from '../cases/index.js';
import { type Dialect, nameKey, parseStatement, printStatement } from '../sql/index.js';
import {
  addColumn,
  createdTables,
  dropKey,
  extraIndex,
  extraRows,
  renameAll,
  type TemplateNames,
} from './dress.js';
import { harmlessQuery, moveValues, otherPredicates } from './mutate.js';
import { Random } from './random.js';
import { ridColumn } from './schema.js';
import { mapStatements, type Skeleton } from './skeleton.js';

export interface TemplateOptions {
  /** Whose SQL is written; default: the template's own dialect, else PostgreSQL's. */
  readonly dialect?: Dialect;
  /** How much is changed, from 0 (nothing) to 1; default 0.5. */
  readonly boldness?: number;
}

/** A new case from a template. The same seed, template and options give the same case. */
export function generateFromTemplate(
  seed: string,
  template: ScheduledCase,
  options: TemplateOptions = {},
): ScheduledCase {
  const random = new Random(`template/${template.case.name}/${seed}`);
  const from = template.case.dialect ?? 'postgres';
  const to = options.dialect ?? from;
  const boldness = options.boldness ?? 0.5;
  const maybe = (share: number) => random.chance(Math.min(1, 2 * share * boldness));
  let skeleton = takeApart(template, from);
  // Before `rid` is added: the double's rows get their own.
  if (maybe(0.2)) skeleton = repeatSession(skeleton, random);
  if (isClosed(skeleton)) {
    if (maybe(0.7)) skeleton = addColumn(skeleton, ridColumn, random, 'rid');
    if (maybe(0.4)) skeleton = addColumn(skeleton, 'extra', random, 'filler');
    if (maybe(0.4)) skeleton = extraRows(skeleton, random);
    if (maybe(0.3)) skeleton = extraIndex(skeleton, random);
    if (maybe(0.25)) skeleton = dropKey(skeleton);
    if (maybe(0.5)) skeleton = renameAll(skeleton, drawNames(random, from), from);
  }
  if (maybe(0.5)) skeleton = mapStatements(skeleton, moveValues(random));
  skeleton = mapStatements(skeleton, (statement, place) =>
    place === 'setup' || !maybe(0.3) ? statement : otherPredicates(statement, random),
  );
  skeleton = mapStatements(skeleton, (statement, place) =>
    place !== 'setup' && statement.type === 'commit' && maybe(0.05) ? { type: 'rollback' } : statement,
  );
  if (maybe(0.5)) skeleton = sprinkle(skeleton, random);
  return putTogether(skeleton, template.case, `${template.case.name}-${seed}`, to);
}

function takeApart({ case: program, schedule }: ScheduledCase, dialect: Dialect): Skeleton {
  const { batches } = schedule ?? serialOrder(program);
  return {
    setup: program.setup.map((sql) => parseStatement(sql, dialect)),
    sessions: program.sessions.map(({ name, level, statements }) => ({
      name,
      ...(level === undefined ? {} : { level }),
      statements: statements.map((sql) => parseStatement(sql, dialect)),
    })),
    order: batches.flatMap((batch) => batch.map(([session]) => session)),
  };
}

/** Whether every statement is understood, so that names may change. */
function isClosed({ setup, sessions }: Skeleton): boolean {
  const all = [...setup, ...sessions.flatMap(({ statements }) => statements)];
  return all.every(({ type }) => type !== 'opaque');
}

function putTogether(
  { setup, sessions, order }: Skeleton,
  old: Case,
  name: string,
  to: Dialect,
): ScheduledCase {
  const program: Case = {
    name,
    ...(old.description === undefined ? {} : { description: old.description }),
    dialect: to,
    ...(old.level === undefined ? {} : { level: old.level }),
    setup: setup.map((statement) => printStatement(statement, to)),
    sessions: sessions.map(({ statements, ...rest }) => ({
      ...rest,
      statements: statements.map((statement) => printStatement(statement, to)),
    })),
  };
  const next = sessions.map(() => 0);
  const refs = order.map((session): StatementRef => [session, next[session]!++]);
  return { case: program, schedule: totalOrder(refs) };
}

/** Puts harmless queries between the statements of sessions. */
function sprinkle(skeleton: Skeleton, random: Random): Skeleton {
  const tables = skeleton.setup.flatMap((each) => (each.type === 'create-table' ? [each.name] : []));
  if (tables.length === 0) return skeleton;
  const sessions = skeleton.sessions.map(({ statements, ...rest }) => ({
    ...rest,
    statements: [...statements],
  }));
  const order: number[] = [];
  const sent = sessions.map(() => 0);
  for (const session of skeleton.order) {
    if (random.chance(0.1)) {
      sessions[session]!.statements.splice(sent[session]!++, 0, harmlessQuery(random.pick(tables)));
      order.push(session);
    }
    order.push(session);
    sent[session]!++;
  }
  return { ...skeleton, sessions, order };
}

/** One session twice: its double sends each statement right after it. */
function repeatSession(skeleton: Skeleton, random: Random): Skeleton {
  const chosen = random.below(skeleton.sessions.length);
  const original = skeleton.sessions[chosen]!;
  const ridded = createdTables(skeleton).some(({ columns }) =>
    columns.some(({ name }) => name === ridColumn),
  );
  const inserts = original.statements.some(
    ({ type }) => type === 'insert' || type === 'merge' || type === 'opaque',
  );
  if (ridded && inserts) return skeleton;
  const taken = new Set(skeleton.sessions.map(({ name }) => name));
  let name = `${original.name}b`;
  while (taken.has(name)) name += 'b';
  return {
    ...skeleton,
    sessions: [...skeleton.sessions, { ...original, name }],
    order: skeleton.order.flatMap((session) =>
      session === chosen ? [session, skeleton.sessions.length] : [session],
    ),
  };
}

const tableNames = ['account', 'stock', 'item', 'doctors', 'ledger', 'u'];
const columnNames = ['num', 'amount', 'val', 'state', 'qty', 'w1', 'w2', 'w3'];

/** New names for whatever comes, each once. */
function drawNames(random: Random, dialect: Dialect): TemplateNames {
  const supply = (names: readonly string[], prefix: string) => {
    const drawn = random.shuffle(names);
    const given = new Map<string, string>();
    return (old: string) => {
      const key = nameKey(old, dialect);
      if (!given.has(key)) given.set(key, drawn[given.size] ?? `${prefix}${given.size}`);
      return given.get(key)!;
    };
  };
  return { table: supply(tableNames, 'tab'), column: supply(columnNames, 'col') };
}
