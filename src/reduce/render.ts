/** Reductions for people: the minimal case as a script with its results, one line of progress, a table of strategies. */

import { type Case, printScript, type Schedule } from '../cases/index.js';
import { explainOrdered, type Finding } from '../check/index.js';
import { type History, resultText } from '../histories/index.js';
import { counted } from '../words.js';
import type { Candidate } from './candidate.js';
import type { ReductionProgress, ReductionResult } from './reduce.js';
import type { TrialCounts } from './trials.js';

/**
 * The case as a script that runs again, with what each statement returned and what the contract expects as comments.
 *
 *     T1: SELECT * FROM t;
 *     --  → (1, 10) (2, 20)
 */
export function renderReduced(result: Candidate, history?: History, finding?: Finding): string {
  const script = printScript(withoutReasons(result)).trimEnd();
  const answers = new Map(
    (history?.operations ?? []).flatMap((operation) =>
      operation.statement === undefined
        ? []
        : [[operation.statement.join('/'), resultText(operation)] as const],
    ),
  );
  const head = script.split('\n');
  const texts = result.schedule.batches.flat();
  // Statements are the last lines of a script, one each, unless one of them needs a delimiter of its own.
  const first = head.length - texts.length;
  const onePerLine = texts.every(([s], i) => head[first + i]?.includes(`${result.case.sessions[s]!.name}: `));
  const lines = onePerLine
    ? [
        ...head.slice(0, first),
        ...texts.flatMap((ref, i) => {
          const answer = answers.get(ref.join('/'));
          return answer === undefined || answer === ''
            ? [head[first + i]!]
            : [head[first + i]!, comment(answer, '--  ')];
        }),
      ]
    : head;
  return finding === undefined ? lines.join('\n') : [...lines, '', ...argument(finding)].join('\n');
}

function withoutReasons({ case: program, schedule }: Candidate): { case: Case; schedule: Schedule } {
  const { reasons: _, ...kept } = schedule;
  return { case: program, schedule: kept };
}

function argument(finding: Finding): string[] {
  const clause = finding.clause === undefined ? '' : ` (${finding.clause})`;
  const broken = finding.contract === undefined ? '' : `, which breaks ${finding.contract}${clause}`;
  return [`${finding.kind}${broken}:`, ...explainOrdered(finding).split('\n')].map((line) =>
    comment(line, '-- '),
  );
}

/** Data may hold anything; a comment ends with its line. */
function comment(text: string, start: string): string {
  return `${start}${text.replaceAll(/[\r\n]+/g, ' ')}`;
}

/** `pisco: 120 operations left, 31 trials (9 accepted, 20 rejected, 2 flaky), 4.1 s`. */
export function renderProgress({ stage, operations, counts, seconds }: ReductionProgress): string {
  return `${stage}: ${operations} operations left, ${renderCounts(counts)}, ${seconds.toFixed(1)} s`;
}

export function renderCounts({ trials, accepted, redundant, flaky }: TrialCounts): string {
  const shaky = flaky === 0 ? '' : `, ${flaky} flaky`;
  return `${counted(trials, 'trial')} (${accepted} accepted, ${redundant - flaky} rejected${shaky})`;
}

/** What was achieved, in a sentence or two. */
export function renderSummary(result: ReductionResult, before: number): string {
  const { operations, transactions, rows, seconds, counts, minimal, confirmed } = result;
  const size = `${counted(before, 'operation')} → ${operations} in ${counted(transactions, 'transaction')}, ${counted(rows, 'row')} of set-up`;
  const end = minimal
    ? `1-minimal: each of ${result.removalsTried} single removals was tried and loses the finding`
    : `not known to be minimal: ${result.whyNotMinimal}`;
  const shown = confirmed.runs === 0 ? '' : `; it showed in ${confirmed.shown} of ${confirmed.runs} runs`;
  return `${size}; ${renderCounts(counts)} in ${seconds.toFixed(1)} s by ${result.strategy}\n${end}${shown}`;
}

/** Rows of text as an aligned table. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
