/** The table of the raw runs, what it must show, and the page it is written to. */
import { counted } from '../words.js';
import type { Ratio, RawRunResult } from './raw-run.js';

const columns = [
  'bug',
  'operations',
  'transactions',
  'finding',
  'by batch',
  'at random',
  'minimal case',
  'trials',
  'seconds',
  '1-minimal',
  'shown again',
] as const;

/** One row: `20/20 (20, 18)` are replays that show the finding, in the same place, and identical answer by answer. */
export function renderRow(result: RawRunResult): string {
  return `| ${cells(result).join(' | ')} |`;
}

function cells({ bug, asked, problem, ...result }: RawRunResult): string[] {
  const { minimal } = result;
  return [
    bug.fault === undefined ? bug.name : `\`${bug.name}\``,
    String(result.operations ?? asked),
    result.transactions === undefined ? '' : String(result.transactions),
    result.findings === undefined
      ? `none (${problem ?? ''})`
      : `${findingText(bug.kind, result.kind)} × ${result.findings}`,
    ratioText(result.batch),
    ratioText(result.random),
    minimal === undefined
      ? (problem ?? '')
      : [
          counted(minimal.operations, 'operation'),
          counted(minimal.transactions, 'transaction'),
          counted(minimal.rows, 'row'),
        ].join(', '),
    minimal === undefined ? '' : String(minimal.trials),
    minimal === undefined ? '' : minimal.seconds.toFixed(1),
    minimal === undefined ? '' : minimal.isMinimal ? 'yes' : 'no',
    minimal === undefined ? '' : `${minimal.shown}/${minimal.runs}`,
  ];
}

/** A finding that replays show more sharply is listed with both its kinds. */
function findingText(kind: string, followed = kind): string {
  return followed === kind ? kind : `${kind} (replayed: ${followed})`;
}

function ratioText(ratio: Ratio | undefined): string {
  if (ratio === undefined) return '';
  return `${ratio.shown}/${ratio.runs} (${ratio.inPlace}, ${ratio.identical})`;
}

/** What a row must show and does not. */
export function missedTargets({ batch, minimal, problem }: RawRunResult): string[] {
  if (batch === undefined) return [problem ?? 'nothing was replayed'];
  const missed: string[] = [];
  if (batch.shown < batch.runs) missed.push(`by batch ${batch.shown} of ${batch.runs}`);
  if (minimal === undefined) return [...missed, problem ?? 'not reduced'];
  if (minimal.operations > 10) missed.push(`${minimal.operations} operations, at most 10`);
  if (minimal.transactions > 3) missed.push(`${minimal.transactions} transactions, at most 3`);
  if (!minimal.isMinimal) missed.push('not 1-minimal');
  if (minimal.shown < minimal.runs) missed.push(`shown again ${minimal.shown} of ${minimal.runs}`);
  return missed;
}

/** The whole page. */
export function renderTable(
  results: readonly RawRunResult[],
  versions: Readonly<Record<string, string>>,
): string {
  const missed = results.flatMap((result) =>
    missedTargets(result).map((text) => `- ${result.bug.name}, ${result.asked} operations: ${text}`),
  );
  const sizes = [...new Set(results.map(({ asked }) => asked))].join(',');
  const random = Math.max(...results.map((result) => result.random?.runs ?? 0));
  const command = `npm run bench raw -- --sizes ${sizes} --random ${random} --results FILE --out docs/stages/raw-runs.md`;
  const faults = new Set(results.flatMap(({ bug }) => (bug.fault === undefined ? [] : [`\`${bug.fault}\``])));
  return `# Raw runs: from thousands of concurrent operations to the few that matter

Twelve sessions run a small shop as fast as the database answers (\`src/bench/raw-workload.ts\`): sales, marks, orders that are placed,
changed and cancelled, with hot rows, locking reads, rollbacks and single statements. Nothing is planted in the program: the
bug shows where the engine, or a fault of the wrapper, makes it show. The order of the run is inferred, the whole
history is replayed by batch and, beside it, with no order at all; then the finding is reduced with \`witness\`.

Written by \`${command}\` (FILE keeps what was measured, so
that an interrupted run goes on) on ${Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')}.
Faults of the wrapper are on PostgreSQL, REPEATABLE READ, narrowed so that they are rare: ${[...faults].join(', ')}.

| ${columns.join(' | ')} |
| ${columns.map(() => '---').join(' | ')} |
${results.map(renderRow).join('\n')}

- *finding*: its kind, and how many findings of that kind the raw run has; the first is the one pursued. Where replays
  show more sharply what the raw run shows only by a consequence, both kinds are listed.
- *by batch*, *at random*: replays of the whole history that show a finding of the same identity (the clause broken and the roles of
  operations); in brackets how many show it at the very same statement, and in how many every operation saw
  what it saw in the raw run. A bug that shows in many places of a run comes back at random too, but elsewhere.
- *trials*, *seconds*: of the reduction, with the check that nothing can go and the runs in the last column.
- *1-minimal*: every single removal was tried, and the finding was gone.
- *shown again*: runs of the minimal case that show the same finding.

${missed.length === 0 ? 'Every row shows what it must: all replays by batch, at most 10 operations in 3 transactions, 1-minimal, shown every time.' : `Not reached:\n\n${missed.join('\n')}`}
`;
}
