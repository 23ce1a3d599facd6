/** The probe's matrix as Markdown: a table, then every violation and every unknown with its argument. */
import { describeAnomaly } from '../contracts/index.js';
import { codeCell, codeSpan, escapeMarkdown } from '../markup.js';
import { cellText } from './render-matrix.js';
import type { ProbeReport } from './run-probe.js';
import { caseRows, replayLine, showSettings, showTarget } from './summary.js';

/** Renders a report for an issue tracker or a wiki. */
export function renderMarkdown(report: ProbeReport): string {
  const lines = [
    `## ${escapeMarkdown(showTarget(report.target))}`,
    '',
    ...showSettings(report.target).flatMap((text) => [escapeMarkdown(text), '']),
    tableRow(['anomaly', ...report.levels.map(({ level }) => level), '']),
    tableRow(['---', ...report.levels.map(() => '---'), '---']),
    ...caseRows(report).map(({ id, title, results }) =>
      tableRow([
        codeCell(id),
        ...results.map((result) => (result?.violation ? `**${cellText(result)}**` : cellText(result))),
        title,
      ]),
    ),
    '',
    `Contracts: ${report.levels.map(({ level, contract }) => `${level}: ${codeSpan(contract)}`).join('; ')}.`,
    '',
    '✓ prevented (✓ blocked: after waiting), ○ allowed and not excluded by the vendor’s documentation, ✗ violated: allowed although excluded, ? not decided.',
  ];
  for (const { level, contract, results } of report.levels) {
    for (const result of results.filter(({ violation }) => violation)) {
      lines.push(
        '',
        `**${escapeMarkdown(result.case)} at ${level}** (${describeAnomaly(result.anomaly).title}, forbidden by ${codeSpan(contract)}): ${escapeMarkdown(result.reason)}.`,
        `Again: ${codeSpan(replayLine(report.target, level, result.case))}`,
      );
    }
    for (const result of results.filter(({ verdict }) => verdict === 'unknown')) {
      lines.push(
        '',
        `${escapeMarkdown(result.case)} at ${level} is not decided: ${escapeMarkdown(result.reason)}.`,
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Cells are Markdown already; a bar in one would begin the next. */
function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
