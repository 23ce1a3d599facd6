/**
 * sqllogictest: records `statement ok` and `query …`, with the session named by a `connection name` line before a
 * record, or (DuckDB) at the end of its first line. Expected results, after `----`, are not SQL.
 *
 * What no session is named for, before the first that has one, is the set-up; after it, session `default`.
 */
import type { ScheduledCase } from '../schedule.js';
import { CaseDraft, type Notation, type NotationContext } from './draft.js';

export const sqllogictest: Notation = {
  name: 'sqllogictest',
  example: 'statement ok con1',
  recognise: (text) =>
    /^statement (ok|error|maybe|count \d+)\b/m.test(text) &&
    (/^connection \w+\s*$/m.test(text) || /^(statement \w+|query \S+( \w+)?) \w+\s*$/m.test(text)),
  read: readSqllogictest,
};

function readSqllogictest(text: string, context: NotationContext): ScheduledCase {
  const draft = new CaseDraft(context);
  let connection: string | undefined;
  let started = false;
  for (const record of text.split(/\r?\n[ \t]*\r?\n/)) {
    const lines = record.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line));
    const named = /^connection (\w+)/.exec(lines[0] ?? '')?.[1];
    if (named !== undefined) {
      connection = named;
      lines.shift();
    }
    const head = lines.shift();
    if (head === undefined || !/^(statement|query)\b/.test(head)) continue;
    const end = lines.findIndex((line) => /^----\s*$/.test(line));
    const sql = (end < 0 ? lines : lines.slice(0, end)).join('\n');
    const session = sessionOf(head) ?? connection;
    connection = undefined;
    if (session !== undefined) started = true;
    if (started) draft.add(session ?? 'default', sql);
    else draft.addSetup(sql);
  }
  return draft.build();
}

function sessionOf(head: string): string | undefined {
  const words = head.trim().split(/\s+/);
  if (words[0] === 'statement') return words[1] === 'count' ? words[3] : words[2];
  // `query II rowsort con1`: types, then perhaps a sort mode and a label, then DuckDB's connection.
  const last = words.at(-1);
  return words.length > 2 && /^con/.test(last!) ? last : undefined;
}
