/** The report as Markdown, for issue trackers. Data stands only in code spans, fences and escaped prose. */
import { interleave } from '../histories/index.js';
import type { KnownReference } from '../known/index.js';
import { codeBlock, codeCell, codeSpan, escapeMarkdown, isWebAddress } from '../markup.js';
import { oneLine } from '../visible.js';
import { argumentMarkdown, summaryMarkdown } from './argument.js';
import type { Bug } from './bug.js';
import type { Comparison } from './comparison.js';
import { type ReportDocument, reportDocument } from './document.js';
import { versionLine } from './facts.js';
import { knownLine } from './known.js';

export function reportMarkdown(bug: Bug): string {
  const report = reportDocument(bug);
  const { reproduction } = report;
  return `${[
    `# ${escapeMarkdown(report.title)}`,
    escapeMarkdown(report.standing),
    summaryMarkdown(report.summary),
    report.known === undefined ? '' : knownLine(report.known, knownLink, escapeMarkdown),
    ...(report.setup.length === 0 ? [] : [codeBlock(report.setup.map((sql) => `${sql};`).join('\n'), 'sql')]),
    interleavingTable(bug),
    comparisonTable(report.comparisons),
    '## Why this is wrong',
    argumentMarkdown(bug),
    ...report.assumes.map((text) => `Assumes: ${escapeMarkdown(text)}`),
    sources(report.sources),
    '## To reproduce',
    'Save this as `repro.sql`:',
    codeBlock(reproduction.script, 'sql'),
    'Run and judge it:',
    codeBlock(reproduction.command, 'sh'),
    '## Versions tried',
    table(
      ['engine', 'version', 'settings', 'outcome', 'shown', 'when'],
      report.versions.map((version) => versionLine(version).map(escapeMarkdown)),
    ),
    '## Details',
    report.details.map(({ label, value }) => `- **${label}:** ${escapeMarkdown(value)}`).join('\n'),
    'Found by:',
    codeBlock(reproduction.again, 'sh'),
    'Behaviour:',
    codeBlock(report.behaviour),
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`;
}

function knownLink({ name, url }: KnownReference): string {
  return url !== undefined && isWebAddress(url) ? `${escapeMarkdown(name)} <${url}>` : escapeMarkdown(name);
}

function sources(list: ReportDocument['sources']): string {
  return list
    .map(({ title, url }) => {
      const link = isWebAddress(url) ? `<${url}>` : codeSpan(url);
      return `- ${escapeMarkdown(title)}, ${link}`;
    })
    .join('\n');
}

/** One row an entry, one column a session. */
export function interleavingTable({ history }: Pick<Bug, 'history'>): string {
  const { sessions } = history.header;
  const rows = interleave(history).map(({ session, operation, sql, result, begins }) => {
    const cell = [
      ...(begins === undefined ? [] : [`${escapeMarkdown(begins)}:`]),
      ...(sql === undefined ? [] : [codeCell(sql)]),
      ...(result === '' ? [] : [codeCell(result)]),
    ];
    return [String(operation.index), ...sessions.map((_, s) => (s === session ? cell.join(' ') : ''))];
  });
  return table(['operation', ...sessions.map(escapeMarkdown)], rows);
}

function comparisonTable(list: readonly Comparison[]): string {
  if (list.length === 0) return '';
  return table(
    ['transaction', 'statement', 'actual', 'expected'],
    list.map(({ transaction, statement, actual, expected }) => [
      escapeMarkdown(transaction),
      codeCell(statement),
      codeCell(actual),
      codeCell(expected),
    ]),
  );
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => oneLine(cell)).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}
