/**
 * Explanations as text, from their steps alone, so that every oracle argues in the same voice. One walk over the steps serves
 * plain text, Markdown and HTML: a style says how each sort of piece is written.
 */
import {
  joined,
  ofData,
  ofTransaction,
  type Phrase,
  type Piece,
  phrase,
  type Span,
  type Step,
  say,
} from './explanation.js';
import type { CycleEdge, Finding, FindingOperation, FindingTransaction } from './finding.js';

/** How pieces are written. All but `words` get text that may come from a case, a database or a file. */
export interface ExplanationStyle {
  readonly words: (text: string) => string;
  readonly transaction: (name: string) => string;
  readonly operation: (index: number, sql: string) => string;
  readonly data: (text: string) => string;
  readonly source: (title: string, url: string) => string;
  /** Leaves out when things happened: for readers who have the order before their eyes. */
  readonly withoutTimes?: boolean;
}

const plain: ExplanationStyle = {
  words: (text) => text,
  transaction: (name) => name,
  operation: (index, sql) => `operation ${index} (${sql})`,
  data: (text) => text,
  source: (title, url) => `${title} <${url}>`,
};

export type Explained = Pick<Finding, 'explanation' | 'transactions'>;

/** The explanation as plain text, one line a step, with the times of the history. */
export function explain(finding: Explained): string {
  return explainPlainly(finding, plain);
}

/** The same for readers who have the order before their eyes: without times. */
export function explainOrdered(finding: Explained): string {
  return explainPlainly(finding, { ...plain, withoutTimes: true });
}

function explainPlainly(finding: Explained, style: ExplanationStyle): string {
  return explainSteps(finding, style)
    .map((text, i, all) => {
      if (finding.explanation[i]!.reason !== 'define') return text;
      const first = i === 0 || finding.explanation[i - 1]!.reason !== 'define' || all.length === 1;
      return `${first ? 'Let' : '   '} ${text}`;
    })
    .join('\n');
}

/** The text of each step, in a style of one's own. */
export function explainSteps({ explanation, transactions }: Explained, style: ExplanationStyle): string[] {
  const names = new Map(transactions.map(({ id, name }) => [id, name]));
  return explanation.map(({ says }) => says.map((piece) => writePiece(piece, names, style)).join(''));
}

function writePiece(piece: Piece, names: ReadonlyMap<number, string>, style: ExplanationStyle): string {
  const nameOf = (of: { readonly transaction: number; readonly name?: string }): string =>
    style.transaction(of.name ?? names.get(of.transaction) ?? `transaction ${of.transaction}`);
  if (typeof piece === 'string') return style.words(piece);
  if ('transaction' in piece) return nameOf(piece);
  if ('operation' in piece) return style.operation(piece.operation, piece.sql);
  if ('row' in piece) return style.data(piece.row);
  if ('data' in piece) return style.data(piece.data);
  if ('when' in piece) return writeSpan(piece.when, style);
  if ('source' in piece) return style.source(piece.source.title, piece.source.url);
  const { version, writer, committed, deleted, doubtful } = piece;
  if (writer === undefined) return `${style.data(version)}${style.words(' from the initial state')}`;
  const fate = { committed: 'committed', aborted: 'rolled back', unknown: 'perhaps committed' }[writer.fate];
  return [
    deleted === true ? style.words(version) : style.data(version),
    style.words(deleted === true ? ' (deleted by ' : ' by '),
    nameOf(writer),
    style.words(`, ${fate}`),
    committed === undefined ? '' : writeSpan(committed, style),
    doubtful === true ? style.words(', if it wrote the row') : '',
    deleted === true ? style.words(')') : '',
  ].join('');
}

/** With a space before it, so that a sentence reads well without it. */
function writeSpan({ start, end }: Span, style: ExplanationStyle): string {
  if (style.withoutTimes === true) return '';
  const at = (time: number | null) => time ?? '…';
  return style.words(start === end ? ` at ${at(start)}` : ` in [${at(start)}, ${at(end)}]`);
}

/**
 * Let: the transactions involved. Then: each edge of the cycle, in order; the last one contradicts the rest.
 *
 *     Let T1 = r(x, initial) w(y, 1)
 *         T2 = r(y, initial) w(x, 1)
 *     T1 < T2, because T1 read x in its initial state, before T2 wrote it: w(x, 1);
 *     however, T2 < T1, because …: a contradiction.
 */
export function explainCycle({
  transactions,
  operations,
  cycle = [],
}: Pick<Finding, 'transactions' | 'operations' | 'cycle'>): Step[] {
  const order = cycle.map((edge, i) => {
    const before = phrase`${ofTransaction(edge.from)} < ${ofTransaction(edge.to)}, because ${edge.because}`;
    return i === cycle.length - 1
      ? say.contradiction`however, ${before}: a contradiction.`
      : say.order`${before};`;
  });
  return [...describeTransactions(transactions, operations), ...order];
}

/** `T1 = r(x, initial) w(y, 1)`, one step each. */
export function describeTransactions(
  transactions: readonly FindingTransaction[],
  operations: readonly FindingOperation[],
): Step[] {
  return transactions.map(({ id, status }) => {
    const texts: Phrase = joined(
      operations.filter((op) => op.transaction === id).map(({ text }) => ofData(text)),
      ' ',
    );
    const ended = { committed: '', aborted: ' (aborted)', unknown: ' (outcome unknown)' }[status];
    return say.define`${ofTransaction(id)} = ${texts}${ended}`;
  });
}

/** What an edge is called on a picture: `rw x`. */
export function edgeLabel(edge: CycleEdge): string {
  return edge.object === undefined ? edge.kind : `${edge.kind} ${edge.object}`;
}
