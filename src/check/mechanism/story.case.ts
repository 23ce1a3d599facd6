/**
 * Histories written as the story they tell, for tests:
 *
 *     T1: BEGIN
 *     T1: SELECT id, v FROM t -> 1,10 | 2,20
 *     T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
 *     T1: COMMIT
 *
 * `->` gives rows (or how many rows a write matched), `-> nothing` an empty result, `-> error serialization` an error,
 * `-> lost` a statement that was never answered: it may or may not have taken effect. A cell `NULL` is the null value.
 * COMMIT AND CHAIN begins the session's next transaction.
 * Operations follow one another without overlap unless a line starts with its own interval: `[5,25] T1: …`.
 */
import type { ErrorClass, History, Operation } from '../../histories/index.js';
import { chainsOn, classifyStatement, type Dialect, type Row } from '../../sql/index.js';

export const twoRows = [
  'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
  'INSERT INTO t VALUES (1, 10), (2, 20)',
];

export function story(text: string, options: { dialect?: Dialect; setup?: readonly string[] } = {}): History {
  const dialect = options.dialect ?? 'postgres';
  const sessions: string[] = [];
  const open = new Map<number, number>();
  const operations: Operation[] = [];
  let count = 0;
  const lines = text.split('\n').map((line) => line.trim());
  for (const line of lines.filter((each) => each !== '')) {
    const [, from, to, name, sql, answer] = /^(?:\[(\d+),(\d+)\] )?(\w+): (.*?)(?: -> (.*))?$/.exec(line)!;
    if (!sessions.includes(name!)) sessions.push(name!);
    const session = sessions.indexOf(name!);
    const { kind } = classifyStatement(sql!, dialect);
    const start = from === undefined ? operations.length * 10 + 1000 : Number(from);
    const transaction = open.get(session) ?? count++;
    const error = /^error (\S+)/.exec(answer ?? '')?.[1] as ErrorClass | undefined;
    const wasOpen = open.has(session);
    const lost = answer === 'lost';
    const ends =
      kind === 'commit'
        ? 'commit'
        : kind === 'rollback'
          ? 'rollback'
          : kind === 'begin' || wasOpen
            ? undefined
            : 'commit';
    const ended = lost ? ends && 'unknown' : error === undefined ? ends : wasOpen ? undefined : 'rollback';
    if (kind === 'begin') open.set(session, transaction);
    if (ended !== undefined) open.delete(session);
    if (ended !== undefined && chainsOn(sql!)) open.set(session, count++);
    operations.push({
      index: operations.length,
      session,
      transaction,
      kind,
      sql: sql!,
      start,
      end: lost ? null : to === undefined ? start + 5 : Number(to),
      outcome: lost ? 'unknown' : error === undefined ? 'ok' : 'error',
      ...(error === undefined ? undefined : { error: { class: error, message: error } }),
      ...(ended === undefined ? undefined : { ends: ended }),
      ...(kind === 'select' && error === undefined && !lost ? { rows: rowsOf(answer) } : undefined),
      ...(kind !== 'select' && /^\d+$/.test(answer ?? '') ? { matched: Number(answer) } : undefined),
    } as Operation);
  }
  return { header: { sessions, dialect, setup: options.setup ?? twoRows }, operations };
}

function rowsOf(answer: string | undefined): Row[] {
  if (answer === undefined || answer === 'nothing') return [];
  return answer.split('|').map((row) => row.split(',').map((cell) => cellOf(cell.trim())));
}

function cellOf(text: string): Row[number] {
  if (text === 'NULL') return null;
  return /^-?\d+$/.test(text) ? Number(text) : text;
}
