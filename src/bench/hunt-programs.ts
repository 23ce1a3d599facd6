/** How many programs of default hunts are about contended keys: counted in their text, before anything runs. */
import type { Case } from '../cases/index.js';
import { groupSize, type RoundOptions, Rounds } from '../hunt/index.js';
import { catalogOfProgram } from '../rows/index.js';
import { type Dialect, type InsertStatement, parseStatement } from '../sql/index.js';

export const programQuestions = [
  'the same key inserted by two sessions',
  'the same unique value written by two sessions',
  'a key left to the database',
  'INTEGER PRIMARY KEY',
  'INSERT if absent',
  'run freely in one of their rounds',
] as const;
export type ProgramQuestion = (typeof programQuestions)[number];

/** For how many of the first programs of a hunt the answer is yes. */
export function programCounts(options: RoundOptions, programs: number): ReadonlyMap<ProgramQuestion, number> {
  const counts = new Map<ProgramQuestion, number>(programQuestions.map((question) => [question, 0]));
  const rounds = new Rounds(options);
  // Behind the opening rounds, each of which has a program of its own.
  const first = 50;
  for (let group = first; group < first + programs; group++) {
    const all = Array.from({ length: groupSize }, (_, i) => rounds.round(group * groupSize + i));
    const { dialect } = options.capabilities;
    for (const question of answers(all[0]!.case, dialect)) counts.set(question, counts.get(question)! + 1);
    if (all.some(({ schedule }) => schedule === undefined)) {
      const last = programQuestions[5];
      counts.set(last, counts.get(last)! + 1);
    }
  }
  return counts;
}

/** What holds for a program. */
export function answers(program: Case, dialect: Dialect): ReadonlySet<ProgramQuestion> {
  const found = new Set<ProgramQuestion>();
  if (program.setup.some((sql) => /\bINTEGER PRIMARY KEY\b/i.test(sql))) found.add('INTEGER PRIMARY KEY');
  const keys = new Map<string, number>();
  const { find } = catalogOfProgram({ dialect, setup: program.setup, statements: [] });
  for (const [s, { statements }] of program.sessions.entries())
    for (const sql of statements) {
      const claim = /^update .* set u = (\d+)/i.exec(sql)?.[1];
      if (claim !== undefined) take(keys, `unique u=${claim}`, s, found);
      if (!/^(insert|replace)/i.test(sql)) continue;
      const statement = parseStatement(sql, dialect);
      if (statement.type !== 'insert') continue;
      if (isIfAbsent(statement)) found.add('INSERT if absent');
      const table = find(statement.table.name);
      if (table === undefined || statement.columns === undefined) continue;
      const { shape } = table;
      const left = shape.columns.find(({ automatic }) => automatic)?.name;
      if (left !== undefined && !statement.columns.includes(left)) found.add('a key left to the database');
      if (statement.source.type !== 'values') continue;
      for (const { columns, primary } of shape.keys)
        for (const row of statement.source.rows) {
          const cells = columns.map((name) => row[statement.columns!.indexOf(name)]);
          if (cells.every((cell) => cell?.type === 'literal' && cell.value !== null))
            take(
              keys,
              `${primary ? 'key' : 'unique'} ${columns.join()}=${JSON.stringify(cells)}`.replace(
                /=\[.*"value":(\d+)\}\]$/,
                '=$1',
              ),
              s,
              found,
            );
        }
    }
  return found;
}

function take(keys: Map<string, number>, key: string, session: number, found: Set<ProgramQuestion>): void {
  const before = keys.get(key);
  if (before === undefined) keys.set(key, session);
  else if (before !== session)
    found.add(
      key.startsWith('unique')
        ? 'the same unique value written by two sessions'
        : 'the same key inserted by two sessions',
    );
}

/** INSERT that does nothing where the key is taken. */
export function isIfAbsent({ mode, conflict, source }: InsertStatement): boolean {
  if (mode === 'ignore') return true;
  if (conflict !== undefined) return conflict.type === 'on-conflict' && conflict.set === undefined;
  return source.type === 'query' && JSON.stringify(source.query).includes('"exists"');
}
