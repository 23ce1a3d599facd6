/**
 * What experts are given of a case and of a report: plain text in sections, whose order can be changed. No ids, names, links or labels: a
 * model that recognises a number has not compared anything.
 */
import { interleave } from '../histories/index.js';
import type { KnownBug, KnownCase } from '../known/index.js';
import { accessRows, type Bug } from '../report/index.js';

export interface Section {
  readonly title: string;
  readonly text: string;
}

const mostChars = 6000;
/** `MDEV-26642`, `#113228`, `TiDB_42487`, addresses. */
const names =
  /https?:\/\/\S+|\b[A-Z]{2,10}-\d{2,}\b|\b(?:mysql|mariadb|mdev|tidb|duckdb|postgres\w*|sqlite|turso|cockroach\w*)[\s_-]*#?\d{3,}\b|#\d{2,}/gi;

/** A text without what names a report. */
export function withoutNames(text: string): string {
  return text.replaceAll(names, '(a report)').slice(0, mostChars);
}

/** The case in question: schema, sizes, the run in its order, what each operation met and should have met. */
export function sectionsOfBug(
  bug: Pick<Bug, 'case' | 'history' | 'contract' | 'target' | 'level'>,
): Section[] {
  const { history, case: program } = bug;
  const transactions = new Set(history.operations.map(({ transaction }) => transaction)).size;
  const run = interleave(history).map(({ operation, session, sql, result }) => {
    const who = history.header.sessions[session] ?? session;
    return `${operation.index}. ${who} (transaction ${operation.transaction}): ${sql ?? ''} ${result}`.trim();
  });
  const access = accessRows(bug).map(
    ({ operation, row, sees, actual, expected, wrong }) =>
      `${operation}. ${row}: ${actual === '' ? '' : `actual ${actual}; `}expected ${expected} (${sees})${wrong ? ' WRONG' : ''}`,
  );
  return [
    { title: 'Schema and initial rows', text: program.setup.join(';\n') },
    {
      title: 'Size',
      text: `${program.sessions.length} sessions, ${transactions} transactions, isolation level ${bug.level}`,
    },
    { title: 'Run, in the order of its operations', text: run.join('\n') },
    { title: 'Versions each operation met and should have met', text: access.join('\n') || 'not known' },
  ].map(({ title, text }) => ({ title, text: withoutNames(text) }));
}

/** A report: what it says, and its case. */
export function sectionsOfReport(report: KnownBug): Section[] {
  const { about, symptom, features, case: known, settings = {} } = report;
  const facts = [
    `symptom: ${symptom}`,
    `levels: ${features.levels.join(', ') || 'any'}`,
    ...(features.transactions === undefined ? [] : [`transactions: ${features.transactions}`]),
    `statements and tables: ${features.has.join(', ')}`,
    ...Object.entries(settings).map(([name, value]) => `setting: ${name}=${value}`),
  ];
  return [
    { title: 'Description', text: about },
    { title: 'Facts', text: facts.join('\n') },
    ...(known === undefined
      ? []
      : [{ title: 'Case, in the order of its statements', text: textOfCase(known) }]),
  ].map(({ title, text }) => ({ title, text: withoutNames(text) }));
}

/** Its statements in the order they ran. */
function textOfCase({ case: { setup, sessions }, schedule }: KnownCase): string {
  const lines = schedule.batches
    .flat()
    .map(([s, p]) => `session ${s + 1}: ${sessions[s]?.statements[p] ?? ''}`);
  return [...setup, ...lines].join('\n');
}
