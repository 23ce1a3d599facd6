/** The report on a terminal: what fits on a screen first, then why, then how to see it again. */
import { explainOrdered, explainSteps } from '../check/index.js';
import { type InterleavingStyle, renderInterleaving } from '../histories/index.js';
import { oneLine } from '../visible.js';
import type { Bug } from './bug.js';
import { reportDocument } from './document.js';
import { knownLine } from './known.js';

export interface TerminalStyle extends InterleavingStyle {
  readonly width: number;
}

const words = {
  words: (text: string) => text,
  transaction: (name: string) => name,
  operation: (index: number, sql: string) => `operation ${index} (${sql})`,
  data: (text: string) => text,
  source: (title: string, url: string) => `${title} <${url}>`,
  withoutTimes: true,
};

export function reportTerminal(bug: Bug, { width, ...style }: TerminalStyle): string {
  const report = reportDocument(bug);
  const summary = explainSteps({ explanation: report.summary, transactions: [] }, words);
  const setup = report.setup.map((sql) => `${oneLine(sql)};`);
  return [
    style.heading(oneLine(report.title)),
    oneLine(report.standing),
    summary.map(oneLine).join(' '),
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
    ...report.details.map(({ label, value }) => `${label}: ${oneLine(value)}`),
  ].join('\n');
}
