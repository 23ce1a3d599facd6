/**
 * The explanation of a finding as data: steps, each with the part it plays in the argument (`reason`) and what it says. What
 * it says is made of words and of references to transactions, operations, rows and versions, so that nobody has to read
 * sentences to learn which row or which operation a step is about. `explain.ts` turns steps into text; nothing else does.
 *
 * Oracles write steps with the template tags below:
 *
 *     say.ran`${ofTransaction(3)} ran ${ofOperation(operation)}.`
 */
import type { OperationId, TransactionId } from '../ids.js';

/** An instant, or some instant from `start` to `end`, in the time of the history; null: not known. */
export interface Span {
  readonly start: number | null;
  readonly end: number | null;
}

export type Fate = 'committed' | 'aborted' | 'unknown';

/** Words of ours are plain texts; everything that comes from the history is a reference. */
export type Piece =
  | string
  /** A transaction by its number; its name, where the finding does not list it among its transactions. */
  | { readonly transaction: TransactionId; readonly name?: string }
  | { readonly operation: OperationId; readonly sql: string }
  /** A row (`table/key`) or a key. */
  | { readonly row: string }
  /** A version of a row: its values, and who wrote it; no writer: the initial state. */
  | {
      readonly version: string;
      readonly writer?: { readonly transaction: TransactionId; readonly name?: string; readonly fate: Fate };
      readonly committed?: Span;
      /** The writer deleted the row. */
      readonly deleted?: true;
      /** Whether the transaction wrote the row at all is not certain. */
      readonly doubtful?: true;
    }
  /** Values, results, texts of statements, error messages. */
  | { readonly data: string }
  /** When; left out where times help nobody. */
  | { readonly when: Span }
  | { readonly source: { readonly title: string; readonly url: string } };

export type Phrase = readonly Piece[];

/** The part a step plays. */
export const stepReasons = [
  'define', // the transactions the argument speaks of
  'ran', // the statement that is judged
  'rule', // what the contract says
  'fact', // what had happened: a write, a commit, a lock, a snapshot
  'allowed', // what may have been seen
  'order', // one transaction comes before another
  'suppose', // one of two cases
  'reported', // who takes it for a defect although the manual allows it
  'contradiction', // what happened instead
] as const;
export type StepReason = (typeof stepReasons)[number];

export interface Step {
  readonly reason: StepReason;
  readonly says: Phrase;
}

type Part = Piece | Phrase | number;

/** A template whose values are pieces or phrases. */
export function phrase(words: TemplateStringsArray, ...parts: readonly Part[]): Phrase {
  const pieces: Piece[] = [];
  const add = (piece: Piece): void => {
    const last = pieces.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') pieces[pieces.length - 1] = last + piece;
    else if (piece !== '') pieces.push(piece);
  };
  words.forEach((word, i) => {
    add(word);
    const part = parts[i];
    if (part === undefined) return;
    if (typeof part === 'number') add(String(part));
    else if (isPhrase(part)) part.forEach(add);
    else add(part);
  });
  return pieces;
}

const isPhrase = (part: Part): part is Phrase => Array.isArray(part);

type Tag = (words: TemplateStringsArray, ...parts: readonly Part[]) => Step;

/** Tags for templates, one for each reason: the step says what the template says. */
export const say = Object.fromEntries(
  stepReasons.map((reason): [StepReason, Tag] => [
    reason,
    (words, ...parts) => ({ reason, says: phrase(words, ...parts) }),
  ]),
) as Readonly<Record<StepReason, Tag>>;

/** Phrases with something between them. */
export function joined(phrases: readonly (Piece | Phrase)[], between: string): Phrase {
  return phrases.flatMap((each, i) => [
    ...(i === 0 || between === '' ? [] : [between]),
    ...(isPhrase(each) ? each : [each]),
  ]);
}

export const ofTransaction = (transaction: TransactionId): Piece => ({ transaction });
export const ofOperation = ({
  index,
  sql,
  kind,
}: {
  readonly index: OperationId;
  readonly sql?: string;
  readonly kind: string;
}): Piece => ({ operation: index, sql: sql ?? kind });
export const ofRow = (row: string): Piece => ({ row });
export const ofData = (data: string): Piece => ({ data });
export const during = (span: { readonly start: number; readonly end: number }): Piece => ({
  when: spanOf(span),
});
export const at = (time: number): Piece => during({ start: time, end: time });

/** JSON has no infinity. */
export function spanOf({ start, end }: { readonly start: number; readonly end: number }): Span {
  return { start: Number.isFinite(start) ? start : null, end: Number.isFinite(end) ? end : null };
}

/** What steps refer to, each once, in the order of the argument. */
export function referencesOf(steps: readonly Step[]): {
  readonly transactions: readonly TransactionId[];
  readonly operations: readonly OperationId[];
  readonly rows: readonly string[];
} {
  const pieces = steps.flatMap(({ says }) => says).filter((piece) => typeof piece !== 'string');
  return {
    transactions: [
      ...new Set(
        pieces.flatMap((piece) =>
          'transaction' in piece
            ? [piece.transaction]
            : 'writer' in piece && piece.writer !== undefined
              ? [piece.writer.transaction]
              : [],
        ),
      ),
    ],
    operations: [...new Set(pieces.flatMap((piece) => ('operation' in piece ? [piece.operation] : [])))],
    rows: [...new Set(pieces.flatMap((piece) => ('row' in piece ? [piece.row] : [])))],
  };
}

/** The phrase with a name for every transaction that the finding does not list. */
export function withNames(says: Phrase, nameOf: (transaction: TransactionId) => string | undefined): Phrase {
  const named = <Of extends { readonly transaction: TransactionId }>(of: Of): Of => {
    const name = nameOf(of.transaction);
    return name === undefined ? of : { ...of, name };
  };
  return says.map((piece) => {
    if (typeof piece === 'string') return piece;
    if ('transaction' in piece) return named(piece);
    return 'version' in piece && piece.writer !== undefined
      ? { ...piece, writer: named(piece.writer) }
      : piece;
  });
}
