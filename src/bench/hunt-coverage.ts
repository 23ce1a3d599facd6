#!/usr/bin/env node
/**
 * What default hunts reach: `node build/bench/hunt-coverage.js [file] [rounds]` runs rounds of a hunt on each engine, asks the engine for
 * the plan of every statement that has one, and writes the tables of `docs/stages/hunt-coverage.md`. `npm run bench hunt` does so, too.
 *
 * Everything but the first table is counted in histories and plans: what was sent and answered, not what was meant. The last tables say of
 * each engine what each profile contributes.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Case } from '../cases/index.js';
import type { Level } from '../contracts/index.js';
import { capabilitiesOf, featuresOf } from '../generate/index.js';
import type { History, Operation } from '../histories/index.js';
import { groupSize, type Round, Rounds } from '../hunt/index.js';
import { contractAt, Database } from '../judge/index.js';
import { parseStatement } from '../sql/index.js';
import { openTarget, type Session } from '../targets/index.js';
import { mariadbAvailable } from '../targets/mariadb/index.js';
import { postgresAvailable } from '../targets/postgres/index.js';
import { tursoAvailable } from '../targets/turso/index.js';
import { isIfAbsent, programCounts } from './hunt-programs.js';
import { explainWords, indexesUsed } from './plan-indexes.js';

interface Engine {
  readonly title: string;
  readonly url: string;
  readonly level: Level;
  readonly missing: string | undefined;
}

const engines: readonly Engine[] = [
  { title: 'PostgreSQL, RC', url: 'postgres:', level: 'read committed', missing: postgresAvailable() },
  { title: 'MariaDB, RR', url: 'mariadb:', level: 'repeatable read', missing: mariadbAvailable() },
  { title: 'SQLite', url: 'sqlite:', level: 'serializable', missing: undefined },
  { title: 'DuckDB', url: 'duckdb:', level: 'snapshot', missing: undefined },
  { title: 'Turso, MVCC', url: 'turso:?mode=mvcc', level: 'snapshot', missing: tursoAvailable() },
];

/** Servers that a machine may have or not: they are tried. */
const perhaps: readonly Omit<Engine, 'missing'>[] = [
  { title: 'MySQL, RR', url: 'mysql:', level: 'repeatable read' },
  { title: 'MyRocks, RR', url: 'mariadb:?engine=rocksdb', level: 'repeatable read' },
  { title: 'H2, RC', url: 'h2:', level: 'read committed' },
  { title: 'HSQLDB, SER', url: 'hsqldb:', level: 'serializable' },
  { title: 'Derby, RC', url: 'derby:', level: 'read committed' },
];

async function foundEngines(): Promise<readonly Engine[]> {
  const more: Engine[] = [];
  for (const engine of perhaps) {
    const missing = await openTarget(engine.url).then(
      async (target) => void (await target.close()),
      (error: unknown) => (error instanceof Error ? error.message.split('\n')[0]! : String(error)),
    );
    more.push({ ...engine, missing: missing ?? undefined });
  }
  return [...engines, ...more];
}

/** Counts by group (`statements`, `waits`, …) and name. */
class Tally {
  readonly groups = new Map<string, Map<string, number>>();

  add(group: string, name: string, by = 1): void {
    const counts = this.groups.get(group) ?? new Map<string, number>();
    this.groups.set(group, counts.set(name, (counts.get(name) ?? 0) + by));
  }

  /** Of a group: how many names, and how often all of them. */
  sums(group: string): readonly [kinds: number, times: number] {
    const counts = [...(this.groups.get(group)?.values() ?? [])];
    return [counts.length, counts.reduce((a, b) => a + b, 0)];
  }
}

/** What an engine reached, in all and by the source of the programs. */
interface Covered {
  readonly engine: Engine;
  readonly all: Tally;
  readonly bySource: ReadonlyMap<string, Tally>;
}

/** Programs whose text is counted, and as many whose statements an engine is asked to explain: index kinds are many, and each has few programs. */
const programs = 1000;
/** The opening rounds of a hunt have programs of their own. */
const firstGroup = 1000;

const oracles = [
  { name: 'mechanism', rounds: 5 },
  { name: 'dependency-graph', rounds: 3 },
] as const;

async function cover(engine: Engine, count: number): Promise<Covered> {
  const all = new Tally();
  const bySource = new Map<string, Tally>();
  const database = await Database.open({ open: () => openTarget(engine.url) });
  const { target } = database;
  const capabilities = capabilitiesOf(target);
  const options = { seed: '1', capabilities, levels: [engine.level], oracles };
  for (const [what, found] of programCounts(options, programs)) {
    const cannot = what === 'a key left to the database' && capabilities.explicitKeys === true;
    if (!cannot) all.add('programs', what, found);
  }
  const rounds = new Rounds(options);
  const contract = contractAt('vendor', target, engine.level);
  const tallyOf = (source: string) => {
    const tally = bySource.get(source) ?? new Tally();
    bySource.set(source, tally);
    return tally;
  };
  for (let number = 0; number < count; number++) {
    const { oracle, ...round } = rounds.round(firstGroup * groupSize + number);
    const request = { ...round, oracle: 'mechanism', contract, level: engine.level } as const;
    const observed = await database.observe(request, 0);
    if (observed.kind !== 'ran') continue;
    const source = sourceOf(round);
    for (const each of [all, tallyOf(source)]) {
      each.add('sources', source);
      each.add('runs', round.schedule === undefined ? 'free' : 'by schedule');
      countHistory(each, observed.history);
    }
    if (observed.checked !== undefined) {
      all.add('judged', 'reads judged', observed.checked.reads);
      for (const { what, count: skipped } of observed.skipped)
        if (what === 'read') all.add('judged', 'reads not judged', skipped);
    }
  }
  const scratch = await target.createScratch();
  for (let group = firstGroup; group < firstGroup + programs; group++) {
    const round = rounds.round(group * groupSize);
    await scratch.reset(round.case.setup);
    const session = await scratch.openSession({
      level: engine.level,
      lockTimeoutMs: 5000,
      statementTimeoutMs: 10_000,
    });
    await countPlans([all, tallyOf(sourceOf(round))], round, session, engine.url);
    await session.close();
  }
  await scratch.drop();
  await database.close();
  return { engine, all, bySource };
}

/** `template`, `profile races`. */
function sourceOf({ source }: Pick<Round, 'source'>): string {
  return source.startsWith('profile') ? source : source.split(' ')[0]!;
}

const constraintErrors: ReadonlySet<string> = new Set(['duplicate-key', 'constraint']);

function countHistory(tally: Tally, history: History): void {
  const { operations, header } = history;
  for (const operation of operations) {
    const { sql = '', kind, error } = operation;
    const dialect = header.dialect ?? 'postgres';
    const statement = parseStatement(sql, dialect);
    tally.add('statements', kindOf(statement, kind));
    for (const feature of featuresOf(statement, dialect))
      if (feature.startsWith('where.')) tally.add('predicates', feature.slice(6));
    if (operation.blocked === true)
      tally.add('waits', `${kindOf(statement, kind)} / ${endingOf(operation, operations)}`);
    if (error === undefined || !constraintErrors.has(error.class)) continue;
    const later = operations.some(
      (other) =>
        other.transaction === operation.transaction &&
        other.index > operation.index &&
        other.outcome === 'ok',
    );
    if (later) tally.add('failures', `${error.class} in ${kindOf(statement, kind)}, transaction goes on`);
    else tally.add('failures', `${error.class} in ${kindOf(statement, kind)}, last statement that ran`);
  }
}

function kindOf(statement: ReturnType<typeof parseStatement>, kind: string): string {
  if (statement.type === 'select' && statement.locks.length > 0) return 'locking read';
  if (statement.type !== 'insert') return kind;
  if (isIfAbsent(statement)) return 'insert if absent';
  if (statement.conflict !== undefined) return 'upsert';
  return statement.source.type === 'query' ? 'insert from query' : kind;
}

/** How the transaction ended that ended first while the operation waited. */
function endingOf({ start, end, session }: Operation, operations: readonly Operation[]): string {
  const ended = operations.find(
    (other) =>
      other.session !== session &&
      other.ends !== undefined &&
      (other.end ?? 0) > start &&
      other.start < (end ?? Number.POSITIVE_INFINITY),
  );
  if (ended !== undefined) return ended.error === undefined ? `${ended.ends}` : `${ended.error.class}`;
  return 'no end: rollback to a savepoint, or its own error';
}

/** Which indexes the engine says it uses for the statements of a program. */
async function countPlans(
  tallies: readonly Tally[],
  { case: program }: Pick<Round, 'case'>,
  session: Session,
  url: string,
): Promise<void> {
  const kinds = indexKinds(program);
  for (const tally of tallies)
    for (const kind of new Set(kinds.values())) if (!kind.includes('key')) tally.add('made', kind);
  const explain = explainWords(url.split(':')[0]!);
  for (const { statements } of program.sessions)
    for (const sql of statements) {
      if (/^set\b/i.test(sql)) await session.execute(sql);
      if (!/^(select|update|delete)\b/i.test(sql)) continue;
      const { rows, columns, error } = await session.execute(`${explain} ${sql}`);
      const names = indexesUsed(error === undefined ? { rows, columns } : {}, kinds);
      for (const tally of tallies) for (const name of names) tally.add('indexes', name);
    }
  if (url.startsWith('postgres')) await session.execute('RESET ALL');
}

/** Names of the indexes of a program, with what they are. */
function indexKinds({ setup, dialect = 'postgres' }: Case): ReadonlyMap<string, string> {
  const kinds = new Map<string, string>();
  for (const sql of setup) {
    const statement = parseStatement(sql, dialect);
    if (statement.type === 'create-table') {
      kinds.set(`${statement.name}_pkey`, 'primary key');
      kinds.set(`sqlite_autoindex_${statement.name}_\\d`, 'primary or unique key');
      for (const { name } of statement.columns) {
        kinds.set(`${statement.name}_${name}_key`, 'unique key');
      }
    }
    if (statement.type !== 'create-index' || statement.name === undefined) continue;
    const { method, where, columns, unique } = statement;
    const expression = columns.some((column) => column.expression.type !== 'column');
    const kind = unique
      ? 'unique'
      : expression
        ? 'expression'
        : where !== undefined
          ? 'partial'
          : columns.length > 1
            ? 'several columns'
            : 'secondary';
    kinds.set(statement.name, method === undefined ? kind : method.toLowerCase().replace('using ', ''));
  }
  return kinds;
}

const titles: Readonly<Record<string, string>> = {
  programs: `Contended keys in ${programs} default programs`,
  sources: 'Rounds by source',
  runs: 'Rounds that ran freely, and by schedule',
  statements: 'Statements',
  predicates: 'Predicates',
  waits: 'Waits: what waited, and how the one it waited for ended',
  failures: 'Constraint errors inside transactions',
  made: `Indexes besides keys in the set-ups of ${programs} default programs`,
  indexes: `Indexes used in ${programs} default programs, by the engine’s own plan`,
  judged: 'Reads of plain runs that the mechanism verifier judged',
};

function tables(covered: readonly Covered[]): string {
  return Object.entries(titles)
    .map(([group, title]) => {
      const countsOf = ({ all }: Covered) => all.groups.get(group);
      const names = [...new Set(covered.flatMap((each) => [...(countsOf(each)?.keys() ?? [])]))].sort();
      const head = ['', ...covered.map(({ engine }) => engine.title)];
      const rows = names.map((name) => [
        name,
        ...covered.map((each) => String(countsOf(each)?.get(name) ?? (group === 'programs' ? '–' : 0))),
      ]);
      return `## ${title}\n\n${table(head, rows)}\n`;
    })
    .join('\n');
}

/** What each source of programs reaches: kinds, and how often. */
const reached = ['statements', 'predicates', 'waits', 'failures', 'indexes'] as const;

function profileTables(covered: readonly Covered[]): string {
  const head = [
    '',
    'rounds',
    'free',
    'statements',
    'predicates',
    'waits × endings',
    'constraint errors',
    'index kinds',
  ];
  return covered
    .map(({ engine, bySource }) => {
      const rows = [...bySource].sort().map(([source, tally]) => [
        source,
        String(tally.sums('runs')[1]),
        String(tally.groups.get('runs')?.get('free') ?? 0),
        ...reached.map((group) => {
          const [kinds, times] = tally.sums(group);
          return `${kinds} / ${times}`;
        }),
      ]);
      return `### ${engine.title}\n\n${table(head, rows)}\n`;
    })
    .join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(head),
    `|---|${head
      .slice(1)
      .map(() => '---:')
      .join('|')}|`,
    ...rows.map(line),
  ].join('\n');
}

/** Writes the page; the engines that were not there are named. */
export async function writeCoverage(file: string, rounds: number): Promise<string> {
  const covered: Covered[] = [];
  const all = await foundEngines();
  for (const engine of all) if (engine.missing === undefined) covered.push(await cover(engine, rounds));
  const absent = all
    .filter(({ missing }) => missing !== undefined)
    .map(({ title, missing }) => `${title} (${missing})`);
  const text = `# What default hunts reach

Written by \`node build/bench/hunt-coverage.js\` and by \`npm run bench hunt\`: ${rounds} rounds of the [default mix](hunt.md#what-a-round-does) on each engine${
    absent.length === 0 ? '' : `; not run: ${absent.join(', ')}`
  }. The engine is asked for the plans of ${programs} programs; an index of several
columns that is read "index only" covers its statement.
What an engine does not have, be it a wait, a statement or a kind of index, is 0 there; – says that it cannot leave a key to the database in the mode that is hunted.

Before there were scenarios, 3,000 default programs had 12 to 16 with the same key inserted by two sessions, 0 of the next four of the first table, and 60 that ran freely (2 %). The last
row of the first table counts programs of which at least one round runs freely, the third table counts rounds.

${tables(covered)}
## By engine and profile

How many kinds a profile reached / how often all of them, as the tables above count them.

${profileTables(covered)}`;
  await writeFile(file, text);
  return covered
    .map(({ engine: { title }, all: tally }) => `${title}: ${tally.sums('waits')[1]} waits`)
    .join('; ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file = 'docs/stages/hunt-coverage.md', rounds = '800'] = process.argv.slice(2);
  console.log(await writeCoverage(file, Number(rounds)));
}
