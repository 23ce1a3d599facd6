/** What several databases answered to the statements of one case, side by side. */
import { type History, type Operation, resultText } from '../histories/index.js';

export interface ComparedStatement {
  readonly session: string;
  readonly sql: string;
  /** In the order of the databases; undefined: it was not sent there. */
  readonly answers: readonly (ComparedAnswer | undefined)[];
  readonly differs: boolean;
}

export interface ComparedAnswer {
  readonly text: string;
  readonly failed: boolean;
  readonly waited: boolean;
}

const mostStatements = 400;

/** Statements in the order the first database answered them; two runs of one statement are told by its place in the case. */
export function compareRuns(runs: readonly History[]): ComparedStatement[] {
  if (runs.length < 2) return [];
  const places = new Map<string, (Operation | undefined)[]>();
  runs.forEach(({ operations }, run) => {
    for (const operation of operations) {
      const place = JSON.stringify(operation.statement ?? [operation.session, operation.index]);
      const found = places.get(place) ?? runs.map(() => undefined);
      found[run] = operation;
      places.set(place, found);
    }
  });
  return [...places.values()].slice(0, mostStatements).map((found) => {
    const some = found.find((operation) => operation !== undefined)!;
    const keys = found.map((operation) => (operation === undefined ? 'not sent' : answerKey(operation)));
    return {
      session: runs[0]!.header.sessions[some.session] ?? String(some.session),
      sql: some.sql ?? some.kind,
      answers: found.map((operation) =>
        operation === undefined
          ? undefined
          : {
              text: resultText(operation),
              failed: operation.outcome !== 'ok',
              waited: operation.blocked === true,
            },
      ),
      differs: new Set(keys).size > 1,
    };
  });
}

/** What counts as the same answer: the class of an error, not its words; rows in whatever order; rows written. */
function answerKey({ error, rows, columns, changed, matched, ends, kind }: Operation): string {
  if (error !== undefined) return `error ${error.class}`;
  if (rows !== undefined && (columns?.length ?? 0) > 0)
    return JSON.stringify(rows.map((row) => JSON.stringify(row)).sort());
  if (kind === 'commit' || kind === 'rollback') return ends ?? '';
  return String(changed ?? matched ?? '');
}
