/** The probe's matrix for a terminal: one row per case, one column per level, violations in front of everything. */
import pc from 'picocolors';
import { describeAnomaly, noContractFor, shortLevel } from '../contracts/index.js';
import { oneLine } from '../visible.js';
import type { ProbeReport, ProbeResult } from './run-probe.js';
import { caseRows, replayLine, showSettings, showTarget } from './summary.js';

export type Colors = ReturnType<typeof pc.createColors>;

export interface MatrixOptions {
  /** Default: none. A caller that writes to a terminal passes picocolors' (which heeds NO_COLOR). */
  readonly colors?: Colors;
}

/** The cell of a result: symbol and word. */
export function cellText(result: ProbeResult | undefined): string {
  if (result === undefined) return '';
  if (result.violation) return '✗ VIOLATED';
  const texts = {
    prevented: '✓ prevented',
    blocked: '✓ blocked',
    allowed: '○ allowed',
    unknown: '? unknown',
  };
  return texts[result.verdict];
}

/** Draws the matrix, the violations with their arguments, what is unknown and why, and a legend. */
export function renderMatrix(report: ProbeReport, options: MatrixOptions = {}): string {
  const colors = options.colors ?? pc.createColors(false);
  const rows = caseRows(report);
  const nameWidth = Math.max(...rows.map(({ id }) => id.length), 7);
  const headings = report.levels.map(({ level }) => `${level} (${shortLevel(level)})`);
  const widths = report.levels.map((_, i) =>
    Math.max(headings[i]!.length, ...rows.map(({ results }) => cellText(results[i]).length)),
  );
  const pad = (text: string, width: number) => text + ' '.repeat(width - text.length);
  const lines = [
    colors.bold(showTarget(report.target)),
    ...showSettings(report.target).map((text) => colors.dim(text)),
    '',
    colors.bold([pad('anomaly', nameWidth), ...headings.map((text, i) => pad(text, widths[i]!))].join('  ')),
    ...rows.map(({ id, title, results }) =>
      [
        pad(id, nameWidth),
        ...results.map((result, i) => paint(colors, result)(pad(cellText(result), widths[i]!))),
        colors.dim(title),
      ].join('  '),
    ),
    '',
    ...contractLines(report, colors),
    '',
    ...legend(colors),
    ...findings(report, colors),
  ];
  return lines.join('\n');
}

function paint(colors: Colors, result: ProbeResult | undefined): (text: string) => string {
  if (result === undefined) return (text) => text;
  if (result.violation) return (text) => colors.bold(colors.inverse(colors.red(text)));
  const paints = {
    prevented: colors.green,
    blocked: colors.green,
    allowed: colors.yellow,
    unknown: colors.magenta,
  };
  return paints[result.verdict];
}

function contractLines(report: ProbeReport, colors: Colors): string[] {
  return report.levels.map(({ level, contract, contractKnown }) => {
    if (contractKnown) return colors.dim(`${shortLevel(level)} is compared with the contract ${contract}`);
    const { name, settings } = report.target;
    return colors.dim(`${noContractFor(name, level, settings)} (${contract}); nothing counts as forbidden`);
  });
}

function legend(colors: Colors): string[] {
  return [
    `${colors.green('✓ prevented')}  it did not happen: a conflict was refused, or the results are in order`,
    `${colors.green('✓ blocked')}    the same, after a statement had to wait for another session`,
    `${colors.yellow('○ allowed')}    it happened, and the vendor's documentation does not exclude it at this level`,
    `${colors.bold(colors.red('✗ VIOLATED'))}   it happened, although the vendor's documentation excludes it at this level`,
    `${colors.magenta('? unknown')}    this run does not decide it`,
  ];
}

/** The violations and the unknowns, argued. */
function findings(report: ProbeReport, colors: Colors): string[] {
  const all = report.levels.flatMap((level) => level.results.map((result) => ({ level, result })));
  const violations = all.filter(({ result }) => result.violation);
  const unknowns = all.filter(({ result }) => result.verdict === 'unknown');
  const lines: string[] = [];
  if (violations.length === 0) {
    const decided = unknowns.length === 0 && !report.stopped;
    lines.push('', decided ? 'No level allows what its contract forbids.' : 'No violation was seen.');
  }
  for (const { level, result } of violations) {
    lines.push(
      '',
      `${colors.bold(colors.red(`✗ ${result.case} at ${level.level}`))}: ${describeAnomaly(result.anomaly).title}, forbidden by ${level.contract}`,
      `  ${oneLine(result.reason)}`,
      `  ${colors.dim(replayLine(report.target, level.level, result.case))}`,
    );
  }
  for (const { level, result } of unknowns) {
    lines.push(
      '',
      `${colors.magenta(`? ${result.case} at ${level.level}`)} is not decided: ${oneLine(result.reason)}`,
    );
  }
  if (report.stopped) {
    const why = report.failure === undefined ? '' : ` (${oneLine(report.failure)})`;
    lines.push('', `Stopped early: not every case was run${why}.`);
  }
  return lines;
}
