/**
 * Experiments: small changes of a case that ask under which conditions its bug shows, and what else of it can be seen.
 *
 * Two bugs may break one case alike: a deleted row that readers still see, and a deleted row that somebody inserts again. Whoever
 * debugs them would ask the next question: can the row be updated? Every experiment is such a question. It looks closer (reads added at the end,
 * before a transaction ends, before a write), takes a condition away (a statement, RETURNING, NULL), or changes one (a statement twice,
 * ROLLBACK in place of COMMIT, another value, UPDATE in place of DELETE). What the answers are on a correct database does not matter: they are compared between
 * builds of an engine, or between two cases on one build.
 *
 * Deterministic, and at most `mostExperiments` of a case; those that look closer come first.
 */
import { type ScheduledCase, type TransactionSpan, transactionsOf } from '../cases/index.js';
import {
  type CreateTableStatement,
  type Dialect,
  type Expression,
  type InsertStatement,
  parseStatement,
  printStatement,
  quoteIdentifier,
  type Statement,
  sameName,
  type TableReference,
  type UpdateStatement,
} from '../sql/index.js';
import { type Edit, edited, type Step, stepsOf } from './edited-case.js';
import { actOf, isControl } from './events.js';

export interface Experiment extends Required<ScheduledCase> {
  /** What was changed, for people: `T1.3 twice`. */
  readonly name: string;
  /** Only reads were added, or a form left out (RETURNING, NULL): the rest happens as before. */
  readonly looks: boolean;
}

export const mostExperiments = 40;

interface Table {
  readonly name: string;
  /** `UPDATE t SET c = c`, and one that changes what can be seen, where the column is a number. */
  readonly touch: string | undefined;
  readonly change: string | undefined;
  readonly read: string;
  readonly empty: string;
}

/** A statement that is no transaction control. */
interface Work extends Step {
  readonly name: string;
  readonly statement: Statement;
  readonly writes: boolean;
}

interface Setting {
  readonly scheduled: Required<ScheduledCase>;
  readonly dialect: Dialect;
  readonly tables: readonly Table[];
  readonly steps: readonly Step[];
  readonly works: readonly Work[];
}

interface Change {
  readonly name: string;
  readonly edit: Edit;
}

export function experimentsOf(scheduled: Required<ScheduledCase>, spelt?: Dialect): Experiment[] {
  const { case: program } = scheduled;
  const dialect = program.dialect ?? spelt ?? 'postgres';
  const batches = stepsOf(scheduled);
  const steps = batches.flat();
  const works = steps.flatMap((step): Work[] => {
    const { kind, touch } = actOf(step.sql, dialect);
    if (isControl(kind)) return [];
    const name = `${program.sessions[step.session]!.name}.${step.position + 1}`;
    return [{ ...step, name, statement: parseStatement(step.sql, dialect), writes: touch.writes.size > 0 }];
  });
  const setting = { scheduled, dialect, tables: tablesOf(program.setup, dialect), steps, works };
  const looking = [looksAfter, looksInside, withoutForm, looksAround];
  const changing = [writesAfter, otherEnds, otherWrites, looksBefore, otherValues, twice, without];
  const kinds = [
    ...looking.map((list) => list(setting).map((change) => ({ ...change, looks: true }))),
    ...changing.map((list) => list(setting).map((change) => ({ ...change, looks: false }))),
  ];
  return evenly(kinds, mostExperiments).map(({ name, looks, edit }) => ({
    ...{ name, looks },
    ...edited(program, batches, edit),
  }));
}

/** One of each list in turn, so that a long case still has experiments of every kind. */
function evenly<T>(lists: readonly (readonly T[])[], most: number): T[] {
  const chosen: T[] = [];
  for (let i = 0; chosen.length < most && lists.some(({ length }) => length > i); i++)
    for (const list of lists) if (list[i] !== undefined && chosen.length < most) chosen.push(list[i]!);
  return chosen;
}

function tablesOf(setup: readonly string[], dialect: Dialect): Table[] {
  return setup.flatMap((sql): Table[] => {
    const statement = parseStatement(sql, dialect);
    if (statement.type !== 'create-table') return [];
    const name = quoteIdentifier(statement.name, dialect);
    const column = plainColumn(statement);
    // Printed anew: quoted only where it must be.
    const print = (text: string) => printStatement(parseStatement(text, dialect), dialect);
    const quoted = column && quoteIdentifier(column, dialect);
    const touch = quoted && print(`UPDATE ${name} SET ${quoted} = ${quoted}`);
    const isNumber = /INT|DEC|NUM|REAL|DOUBLE|FLOAT/i.test(
      statement.columns.find((each) => each.name === column)?.columnType ?? '',
    );
    const change = isNumber ? print(`UPDATE ${name} SET ${quoted} = 6`) : touch;
    const [read, empty] = [print(`SELECT * FROM ${name}`), print(`DELETE FROM ${name}`)];
    return [{ name: statement.name, touch, change, read, empty }];
  });
}

/** The last column that can be assigned. */
function plainColumn({ columns }: CreateTableStatement): string | undefined {
  return columns.findLast(({ constraints }) =>
    constraints.every(({ type }) => !/generated|identity|auto/.test(type)),
  )?.name;
}

const readsOf = ({ tables }: Setting): string[] => tables.map(({ read }) => read);

function looksAfter(setting: Setting): Change[] {
  return [{ name: 'every table read when all is over', edit: { after: readsOf(setting) } }];
}

function writesAfter({ tables }: Setting): Change[] {
  const touches = tables.flatMap(({ touch, read }) => (touch === undefined ? [] : [touch, read]));
  const changes = tables.flatMap(({ change, read }) => (change === undefined ? [] : [change, read]));
  const deletes = tables.flatMap(({ empty, read }) => [empty, read]);
  return [
    { name: 'every row updated when all is over', edit: { after: touches } },
    // A row that is only shown keeps its old values, and outlives its table's last row.
    { name: 'every row changed when all is over', edit: { after: changes } },
    { name: 'every row deleted when all is over', edit: { after: deletes } },
  ];
}

function spansOf({ scheduled: { case: program } }: Setting): TransactionSpan[] {
  return program.sessions
    .flatMap((_, session) => transactionsOf(program, session))
    .filter(({ explicit }) => explicit);
}

const nameOf = ({ scheduled }: Setting, { session }: TransactionSpan): string =>
  scheduled.case.sessions[session]!.name;

function stepAt({ steps }: Setting, session: number, position: number): Step {
  return steps.find((step) => step.session === session && step.position === position)!;
}

const replacing = (step: Step, statements: readonly string[]): Edit => ({
  replace: new Map([[step, statements]]),
});

/** A transaction reads once more before it ends, and before anything else. */
function looksInside(setting: Setting): Change[] {
  const reads = readsOf(setting);
  return spansOf(setting).flatMap((span) => {
    const name = nameOf(setting, span);
    const [begin, last] = [span.first, span.last].map((position) =>
      stepAt(setting, span.session, position),
    ) as [Step, Step];
    const late = span.end === 'open' ? [last.sql, ...reads] : [...reads, last.sql];
    return [
      { name: `${name} reads every table before its transaction ends`, edit: replacing(last, late) },
      { name: `${name} reads every table first`, edit: replacing(begin, [begin.sql, ...reads]) },
    ];
  });
}

/** Committed in place of rolled back, and the other way round; each also looked at from another session. */
function otherEnds(setting: Setting): Change[] {
  const after = readsOf(setting);
  return spansOf(setting).map((span) => {
    const last = stepAt(setting, span.session, span.last);
    const name = nameOf(setting, span);
    if (span.end === 'open')
      return { name: `${name} commits`, edit: { ...replacing(last, [last.sql, 'COMMIT']), after } };
    const [does, sql] = span.end === 'commit' ? ['rolls back', 'ROLLBACK'] : ['commits', 'COMMIT'];
    return { name: `${name} ${does}`, edit: { ...replacing(last, [sql]), after } };
  });
}

function looksBefore(setting: Setting): Change[] {
  const reads = readsOf(setting);
  return setting.works
    .filter(({ writes }) => writes)
    .map((work) => ({
      name: `a read of every table before ${work.name}`,
      edit: replacing(stepAt(setting, work.session, work.position), [...reads, work.sql]),
    }));
}

function changed(
  setting: Setting,
  { session, position }: Work,
  name: string,
  statements: readonly string[],
): Change {
  return { name, edit: replacing(stepAt(setting, session, position), statements) };
}

function twice(setting: Setting): Change[] {
  return setting.works.map((work) => changed(setting, work, `${work.name} twice`, [work.sql, work.sql]));
}

function without(setting: Setting): Change[] {
  return setting.works.map((work) => changed(setting, work, `without ${work.name}`, []));
}

/** A session reads before everything, or when it has done what it does. */
function looksAround(setting: Setting): Change[] {
  const reads = readsOf(setting);
  return setting.scheduled.case.sessions.flatMap(({ name }, session) => {
    const last = setting.steps.findLast((step) => step.session === session);
    return [
      ...(last === undefined
        ? []
        : [{ name: `${name} reads every table at its end`, edit: replacing(last, [last.sql, ...reads]) }]),
      {
        name: `${name} reads every table before everything`,
        edit: { before: { session, statements: reads } },
      },
    ];
  });
}

/** Forms for which engines have ways of their own. */
function withoutForm(setting: Setting): Change[] {
  const { dialect } = setting;
  return setting.works.flatMap((work) => {
    const { statement, name } = work;
    if (statement.type !== 'update' && statement.type !== 'delete' && statement.type !== 'insert') return [];
    const changes: Change[] = [];
    const put = (what: string, other: Statement) =>
      changes.push(changed(setting, work, `${name} ${what}`, [printStatement(other, dialect)]));
    if (statement.returning !== undefined) {
      const { returning: _, ...plain } = statement;
      put('without RETURNING', plain);
    }
    if (statement.type !== 'update') return changes;
    const isNull = ({ value }: UpdateStatement['set'][number]) =>
      value.type === 'literal' && value.value === null;
    if (statement.set.some(isNull))
      put('with a value in place of NULL', {
        ...statement,
        set: statement.set.map((each) =>
          isNull(each) ? { ...each, value: { type: 'literal', value: 1 } } : each,
        ),
      });
    return changes;
  });
}

/** What was set to what is there already, or to what another transaction sets, is then set to something else. */
function otherValues(setting: Setting): Change[] {
  return setting.works.flatMap((work): Change[] => {
    const { statement, name } = work;
    if (statement.type !== 'update') return [];
    const set = statement.set.map((each) => ({ ...each, value: anotherValue(each.value) }));
    if (set.every(({ value }, i) => value === statement.set[i]!.value)) return [];
    const sql = printStatement({ ...statement, set }, setting.dialect);
    return [changed(setting, work, `${name} with another value`, [sql])];
  });
}

function anotherValue(value: Expression): Expression {
  if (value.type === 'cast') {
    const operand = anotherValue(value.operand);
    return operand === value.operand ? value : { ...value, operand };
  }
  if (value.type !== 'literal') return value;
  // No other date or number comes of this; then the statement fails on both builds.
  if (typeof value.value === 'string') return { type: 'literal', value: `${value.value}x` };
  if (typeof value.value === 'number') return { type: 'literal', value: value.value === 77 ? 78 : 77 };
  if (typeof value.value === 'boolean') return { type: 'literal', value: !value.value };
  return value;
}

/** Another kind of write in its place: UPDATE for DELETE and the other way round, of the same rows; for INSERT, which then happens before, both. */
function otherWrites(setting: Setting): Change[] {
  const { dialect, tables } = setting;
  return setting.works.flatMap((work): Change[] => {
    const { name } = work;
    const inserted = insertOf(work.statement);
    const statement = inserted ?? work.statement;
    const write = writeOf(statement);
    const known = tables.find(
      ({ name: each }) => write !== undefined && sameName(each, write.table.name, dialect),
    );
    if (write === undefined || known === undefined) return [];
    const forms = [
      ...(statement.type === 'delete' ? [] : [`DELETE FROM ${quoteIdentifier(write.table.name, dialect)}`]),
      ...(statement.type === 'update' ? [] : [known.change]),
    ].flatMap((sql) => sql ?? []);
    return forms.flatMap((sql) => {
      const other = parseStatement(sql, dialect);
      if (other.type !== 'update' && other.type !== 'delete') return [];
      const printed = printStatement({ ...other, ...write }, dialect);
      const change = changed(setting, work, `${other.type.toUpperCase()} in place of ${name}`, [printed]);
      if (inserted === undefined) return [change];
      return [{ ...change, edit: { ...change.edit, setup: [printStatement(inserted, dialect)] } }];
    });
  });
}

/** What a write inserts, as a plain INSERT, which every reader of a set-up understands; undefined: nothing, or it is not so simple. */
function insertOf(statement: Statement): InsertStatement | undefined {
  if (statement.type === 'insert') {
    const { table, columns, source } = statement;
    if (source.type !== 'values') return undefined;
    return { type: 'insert', table, source, ...(columns !== undefined && { columns }) };
  }
  if (statement.type !== 'merge') return undefined;
  const action = statement.whens.find(({ match }) => match === 'not matched')?.action;
  if (action?.type !== 'insert' || action.values?.every(({ type }) => type === 'literal') !== true)
    return undefined;
  const { columns, values } = action;
  const source = { type: 'values', rows: [values] } as const;
  return { type: 'insert', table: statement.table, source, ...(columns !== undefined && { columns }) };
}

/** The table and rows of a write of one table; undefined: it is another statement, or not so simple. */
function writeOf(
  statement: Statement,
): { readonly table: TableReference; readonly where?: Expression } | undefined {
  if (statement.type === 'insert') return { table: statement.table };
  if (statement.type !== 'update' && statement.type !== 'delete') return undefined;
  const { table, where } = statement;
  const more = statement.type === 'update' ? (statement.moreTables ?? statement.from) : statement.using;
  if (table.type !== 'table' || more.length > 0) return undefined;
  return { table, ...(where !== undefined && { where }) };
}
