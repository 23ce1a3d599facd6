/** The report on a terminal: what fits on a screen first, then why, then how to see it again. */
import { explainOrdered } from '../check/index.js';
import { type InterleavingStyle, renderInterleaving } from '../histories/index.js';
import { oneLine } from '../visible.js';
import { inPlainText, summaryText } from './argument.js';
import type { Bug } from './bug.js';
import { type ReportDocument, reportDocument } from './document.js';
import { knownLine } from './known.js';

export interface TerminalStyle extends InterleavingStyle {
  readonly width: number;
}

export function reportTerminal(bug: Bug, { width, ...style }: TerminalStyle): string {
  const report = reportDocument(bug);
  const setup = report.setup.map((sql) => `${oneLine(sql)};`);
  return [
    style.heading(oneLine(report.title)),
    oneLine(report.standing),
    summaryText(report.summary, inPlainText),
    ...(report.known === undefined ? [] : [oneLine(knownLine(report.known))]),
    ...(setup.length === 0 ? [] : ['', ...setup]),
    '',
    renderInterleaving(bug.history, { width, style, numbered: true }),
    '',
    ...report.comparisons.map(({ transaction, statement, actual, expected }) =>
      oneLine(`${transaction}: ${statement}: got ${actual}, expected ${expected}`),
    ),
    '',
    ...explainOrdered(bug.finding).split('\n').map(oneLine),
    '',
    ...accessLines(report),
    ...report.details.map(({ label, value }) => `${label}: ${oneLine(value)}`),
    '',
    'To reproduce, with the script of `isolde bugs export`:',
    ...[
      report.reproduction.command,
      report.reproduction.standalone?.command,
      report.reproduction.hunt,
    ].flatMap((command) => (command === undefined ? [] : [`  ${oneLine(command)}`])),
  ].join('\n');
}

function accessLines({ access: rows, accessBy = '' }: ReportDocument): string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(({ operation, transaction, sees, row, actual, expected, wrong }) => {
    const met = actual === '' ? '' : `${actual}; `;
    return oneLine(
      `${operation} ${transaction} (${sees}) ${row}: ${met}expected ${expected}${wrong ? ' (wrong)' : ''}`,
    );
  });
  return [`What each operation met, and what ${accessBy} lets it meet:`, ...lines, ''];
}
