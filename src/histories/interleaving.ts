/**
 * A history as people draw it: time goes down, one column per session, results in place.
 *
 * An operation is one entry when nothing else was sent before its answer came; otherwise it is two, one where
 * it was sent and one where it was answered, so that a statement that blocked is seen to block.
 */
import type { SessionId } from '../ids.js';
import { showValue } from '../sql/index.js';
import { showControls } from '../visible.js';
import type { History, Operation } from './history.js';
import { transactionNames } from './transaction-names.js';

/** One line of the drawing, before it is laid out: what one session shows at that moment. */
export interface InterleavingEntry {
  readonly session: SessionId;
  readonly operation: Operation;
  readonly part: 'whole' | 'sent' | 'answered';
  /** The SQL, for `whole` and `sent`. */
  readonly sql?: string;
  /** What came back, for `whole` and `answered`; for `sent`, that it blocks. Empty: nothing worth saying. */
  readonly result: string;
  /** The result is an error, or a COMMIT that rolled back. */
  readonly failed: boolean;
  /** The name of the transaction that begins here, where it is not the first of its session: `T2#2`. */
  readonly begins?: string;
}

/** The entries of a history in time order. */
export function interleave(history: History): InterleavingEntry[] {
  const starts = history.operations.map((operation) => operation.start).sort((a, b) => a - b);
  const entries: { readonly at: number; readonly entry: InterleavingEntry }[] = [];
  const beginnings = laterTransactions(history);
  for (const operation of history.operations) {
    const { session, start, end } = operation;
    const sql = operation.sql ?? operation.kind;
    const name = beginnings.get(operation);
    const begins = name === undefined ? {} : { begins: name };
    const failed = hasFailed(operation);
    if (end !== null && operation.blocked !== true && !hasBetween(starts, start, end)) {
      entries.push({
        at: start,
        entry: { session, operation, part: 'whole', sql, result: resultText(operation), failed, ...begins },
      });
      continue;
    }
    const sent = operation.blocked === true ? '… blocks' : '';
    entries.push({
      at: start,
      entry: { session, operation, part: 'sent', sql, result: sent, failed: false, ...begins },
    });
    const answered: InterleavingEntry = {
      session,
      operation,
      part: 'answered',
      result: resultText(operation) || '→ ok',
      failed,
    };
    entries.push({ at: end ?? Number.POSITIVE_INFINITY, entry: answered });
  }
  return entries.sort((a, b) => a.at - b.at).map(({ entry }) => entry);
}

/** Names of transactions by their first operation, for all but the first transaction of each session. */
function laterTransactions(history: History): ReadonlyMap<Operation, string> {
  const names = transactionNames(history);
  const begun = new Set<number>();
  const sessions = new Set<number>();
  const later = new Map<Operation, string>();
  for (const operation of history.operations) {
    const { session, transaction } = operation;
    if (!begun.has(transaction) && sessions.has(session)) later.set(operation, names.get(transaction)!);
    begun.add(transaction);
    sessions.add(session);
  }
  return later;
}

const hasFailed = ({ error, kind, ends }: Operation): boolean =>
  error !== undefined || (kind === 'commit' && ends === 'rollback');

/** Whether a sorted list has a number strictly between two others. */
function hasBetween(sorted: readonly number[], low: number, high: number): boolean {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle]! <= low) from = middle + 1;
    else to = middle;
  }
  return from < sorted.length && sorted[from]! < high;
}

/** What an operation came to, in a few words: its rows, its counts, its error. */
export function resultText(operation: Operation): string {
  const text = answerText(operation);
  return text === '' || isRefused(operation) ? text : `→ ${text}`;
}

function isRefused({ error, kind, ends }: Operation): boolean {
  return error !== undefined || (kind === 'commit' && ends === 'rollback');
}

/** The same without the arrow before what was answered. */
export function answerText(operation: Operation): string {
  if (operation.error !== undefined) {
    const { error } = operation;
    const fate = operation.outcome === 'unknown' ? ' (its effect is unknown)' : '';
    const ended = operation.ends === 'rollback' && operation.kind !== 'rollback' ? '; rolled back' : '';
    return `✗ ${error.class}: ${error.message.split('\n')[0]}${ended}${fate}`;
  }
  if (isRefused(operation)) return '✗ rolled back';
  if (operation.rows !== undefined && (operation.columns?.length ?? 0) > 0) return rowsText(operation);
  const counts: string[] = [];
  if (operation.matched !== undefined) counts.push(`${operation.matched} matched`);
  if (operation.changed !== undefined) counts.push(`${operation.changed} changed`);
  const counted = ['insert', 'update', 'delete', 'replace', 'merge'].includes(operation.kind);
  return counted && counts.length > 0 ? counts.join(', ') : '';
}

const shownRows = 8;

function rowsText(operation: Operation): string {
  const rows = operation.rows ?? [];
  if (rows.length === 0) return 'no rows';
  const shown = rows.slice(0, shownRows).map((row) => `(${row.map(showValue).join(', ')})`);
  const rest = rows.length - shown.length;
  return shown.join(' ') + (rest > 0 ? ` … ${rest} more` : '');
}

/** How the parts of a drawing are coloured; the identity leaves plain text. */
export interface InterleavingStyle {
  readonly heading: (text: string) => string;
  readonly result: (text: string) => string;
  readonly error: (text: string) => string;
}

const plain: InterleavingStyle = { heading: (t) => t, result: (t) => t, error: (t) => t };

/** Draws a history within `width` characters. Control characters in SQL and data are made visible. */
export function renderInterleaving(
  history: History,
  options: {
    readonly width?: number;
    readonly style?: InterleavingStyle;
    /** Puts the number of each operation before it, for texts that refer to operations. */
    readonly numbered?: boolean;
  } = {},
): string {
  const { width = 120, style = plain, numbered = false } = options;
  const names = history.header.sessions;
  const entries = interleave(history);
  const digits = numbered ? String(history.operations.length).length : 0;
  const margin = (text: number | '', between: string): string =>
    numbered ? `${String(text).padStart(digits)} ${between} ` : '';
  const longest = names.map((name, session) =>
    Math.max(
      ...entries
        .filter((e) => e.session === session)
        .flatMap((e) => [visible(labelled(e.sql, e.begins)).length, visible(e.result).length]),
      name.length,
    ),
  );
  const widths = shareWidth(longest, width - 3 * (names.length - 1) - margin('', '│').length);
  const line = (session: number, text: string, paint: (text: string) => string, number: number | '' = '') =>
    `${margin(number, '│')}${widths
      .map((columnWidth, i) =>
        i === session ? paint(text) + ' '.repeat(columnWidth - text.length) : ' '.repeat(columnWidth),
      )
      .join(' │ ')}`.trimEnd();
  const lines = [
    `${margin('', '│')}${names
      .map((name, i) => style.heading(name) + ' '.repeat(Math.max(0, widths[i]! - name.length)))
      .join(' │ ')}`.trimEnd(),
    (numbered ? `${'─'.repeat(digits)}─┼─` : '') +
      widths.map((columnWidth) => '─'.repeat(columnWidth)).join('─┼─'),
  ];
  for (const { session, operation, sql, result, failed, begins } of entries) {
    const first = lines.length;
    const number = (): number | '' => (lines.length === first ? operation.index : '');
    for (const text of wrap(labelled(sql, begins), widths[session]!))
      lines.push(line(session, text, (t) => t, number()));
    const paint = failed ? style.error : style.result;
    for (const text of wrap(result, widths[session]!)) lines.push(line(session, text, paint, number()));
  }
  return lines.join('\n');
}

/** A statement, with the name of the transaction that begins with it. */
function labelled(sql: string | undefined, begins: string | undefined): string {
  return begins === undefined ? (sql ?? '') : `${begins}: ${sql ?? ''}`;
}

/** Column widths for contents of the given lengths: what narrow columns do not need goes to the wide ones. */
function shareWidth(lengths: readonly number[], total: number): number[] {
  const widths: number[] = lengths.map(() => 0);
  let left = total;
  const narrowFirst = lengths.map((length, i) => ({ length, i })).sort((a, b) => a.length - b.length);
  narrowFirst.forEach(({ length, i }, done) => {
    const share = Math.max(16, Math.floor(left / (lengths.length - done)));
    widths[i] = Math.min(length, share);
    left -= widths[i];
  });
  return widths;
}

/** Cuts a text into lines of at most `width`, at spaces where it can. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let rest = visible(text);
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    const cut = space > width / 3 ? space : width;
    lines.push(rest.slice(0, cut).trimEnd());
    rest = `  ${rest.slice(cut).trimStart()}`;
  }
  if (rest.trim() !== '') lines.push(rest);
  return lines;
}

/** On one line, every control character as an escape (`\n`, `\x1b`): data must not move the cursor or colour the terminal. */
function visible(text: string): string {
  return showControls(text.replaceAll('\n', '\\n').replaceAll('\t', '\\t'));
}
