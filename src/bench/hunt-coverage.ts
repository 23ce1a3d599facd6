#!/usr/bin/env node
/**
 * What default hunts reach: `node build/bench/hunt-coverage.js [file] [rounds]` runs rounds of a hunt on each engine, asks the engine for
 * the plan of every statement that has one, and writes the tables of `docs/stages/hunt-coverage.md`. `npm run bench hunt` does so, too.
 *
 * Everything but the first table is counted in histories and plans: what was sent and answered, not what was meant.
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
import { isIfAbsent, programCounts } from './hunt-programs.js';

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
];

/** Counts by group (`statements`, `waits`, …) and name. */
class Tally {
  readonly groups = new Map<string, Map<string, number>>();

  add(group: string, name: string, by = 1): void {
    const counts = this.groups.get(group) ?? new Map<string, number>();
    this.groups.set(group, counts.set(name, (counts.get(name) ?? 0) + by));
  }
}

/** Programs whose text is counted. */
const programs = 600;

const oracles = [
  { name: 'mechanism', rounds: 5 },
  { name: 'dependency-graph', rounds: 3 },
] as const;

async function cover(engine: Engine, count: number): Promise<Tally> {
  const tally = new Tally();
  const database = await Database.open({ open: () => openTarget(engine.url) });
  const { target } = database;
  const capabilities = capabilitiesOf(target);
  const options = { seed: '1', capabilities, levels: [engine.level], oracles };
  for (const [what, found] of programCounts(options, programs)) tally.add('programs', what, found);
  const rounds = new Rounds(options);
  const contract = contractAt('vendor', target, engine.level);
  const scratch = await target.createScratch();
  for (let number = 0; number < count; number++) {
    const { oracle, ...round } = rounds.round(1000 * groupSize + number);
    const request = { ...round, oracle: 'mechanism', contract, level: engine.level } as const;
    const observed = await database.observe(request, 0);
    if (observed.kind !== 'ran') continue;
    countHistory(tally, observed.history, round.source);
    if (observed.checked !== undefined) {
      tally.add('judged', 'reads judged', observed.checked.reads);
      for (const { what, count: skipped } of observed.skipped)
        if (what === 'read') tally.add('judged', 'reads not judged', skipped);
    }
    if (number % groupSize !== 0) continue;
    await scratch.reset(round.case.setup);
    const session = await scratch.openSession({
      level: engine.level,
      lockTimeoutMs: 5000,
      statementTimeoutMs: 10_000,
    });
    await countPlans(tally, round, session, engine.url);
    await session.close();
  }
  await scratch.drop();
  await database.close();
  return tally;
}

const constraintErrors: ReadonlySet<string> = new Set(['duplicate-key', 'constraint']);

function countHistory(tally: Tally, history: History, source: string): void {
  const { operations, header } = history;
  tally.add('sources', source.startsWith('profile') ? source : source.split(' ')[0]!);
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
  tally: Tally,
  { case: program }: Pick<Round, 'case'>,
  session: Session,
  url: string,
): Promise<void> {
  const kinds = indexKinds(program);
  const explain = url.startsWith('sqlite') ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  for (const { statements } of program.sessions)
    for (const sql of statements) {
      if (/^set enable/i.test(sql)) await session.execute(sql);
      if (!/^(select|update|delete)\b/i.test(sql)) continue;
      const { rows = [] } = await session.execute(`${explain} ${sql}`);
      const text = JSON.stringify(rows);
      const used = [...kinds].filter(([name]) =>
        new RegExp(`(using|on|by|key|INDEX|")\\W{0,4}${name}\\b`, 'i').test(text),
      );
      if (used.length === 0) tally.add('indexes', /INTEGER PRIMARY KEY/.test(text) ? 'row id' : 'none');
      for (const [, kind] of used)
        tally.add(
          'indexes',
          `${kind}${/index only|covering/i.test(text) ? ', index only' : /bitmap/i.test(text) ? ', bitmap' : ''}`,
        );
    }
  if (url.startsWith('postgres')) await session.execute('RESET ALL');
}

/** Names of the indexes of a program, with what they are. */
function indexKinds({ setup, dialect = 'postgres' }: Case): ReadonlyMap<string, string> {
  const kinds = new Map([['PRIMARY', 'primary key']]);
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
  statements: 'Statements',
  predicates: 'Predicates',
  waits: 'Waits: what waited, and how the one it waited for ended',
  failures: 'Constraint errors inside transactions',
  indexes: 'Indexes used, by the engine’s own plan',
  judged: 'Reads of plain runs that the mechanism verifier judged',
};

function tables(tallies: readonly (readonly [Engine, Tally])[]): string {
  return Object.entries(titles)
    .map(([group, title]) => {
      const names = [
        ...new Set(tallies.flatMap(([, { groups }]) => [...(groups.get(group)?.keys() ?? [])])),
      ].sort();
      const head = `| | ${tallies.map(([engine]) => engine.title).join(' | ')} |\n|---|${tallies.map(() => '---:').join('|')}|`;
      const lines = names.map(
        (name) =>
          `| ${name} | ${tallies.map(([, { groups }]) => groups.get(group)?.get(name) ?? 0).join(' | ')} |`,
      );
      return `## ${title}\n\n${head}\n${lines.join('\n')}\n`;
    })
    .join('\n');
}

/** Writes the page; the engines that were not there are named. */
export async function writeCoverage(file: string, rounds: number): Promise<string> {
  const tallies: [Engine, Tally][] = [];
  for (const engine of engines)
    if (engine.missing === undefined) tallies.push([engine, await cover(engine, rounds)]);
  const absent = engines
    .filter(({ missing }) => missing !== undefined)
    .map(({ title, missing }) => `${title} (${missing})`);
  const text = `# What default hunts reach

Written by \`node build/bench/hunt-coverage.js\` and by \`npm run bench hunt\`: ${rounds} rounds of the [default mix](hunt.md#what-a-round-does) on each engine${
    absent.length === 0 ? '' : `; not run: ${absent.join(', ')}`
  }. Plans are asked for once in each program.

${tables(tallies)}`;
  await writeFile(file, text);
  return tallies
    .map(
      ([{ title }, { groups }]) =>
        `${title}: ${[...(groups.get('waits')?.values() ?? [])].reduce((a, b) => a + b, 0)} waits`,
    )
    .join('; ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file = 'docs/stages/hunt-coverage.md', rounds = '800'] = process.argv.slice(2);
  console.log(await writeCoverage(file, Number(rounds)));
}
