/** The report as Markdown, for issue trackers. Data stands only in code spans, fences and escaped prose. */
import { interleave } from '../histories/index.js';
import type { KnownReference } from '../known/index.js';
import { codeBlock, codeCell, codeSpan, escapeMarkdown, isWebAddress } from '../markup.js';
import { oneLine } from '../visible.js';
import { accessHeads } from './access-table.js';
import { argumentText, inMarkdown, summaryText } from './argument.js';
import type { Bug } from './bug.js';
import type { Comparison } from './comparison.js';
import { type ReportDocument, reportDocument } from './document.js';
import { exitCodesText } from './exports/standalone.js';
import { versionLine } from './facts.js';
import { knownLine } from './known.js';
import { shortText } from './shown.js';

export function reportMarkdown(bug: Bug): string {
  const report = reportDocument(bug);
  const { reproduction } = report;
  return `${[
    `# ${escapeMarkdown(report.title)}`,
    escapeMarkdown(report.standing),
    summaryText(report.summary, inMarkdown),
    report.known === undefined ? '' : knownLine(report.known, knownLink, escapeMarkdown),
    ...(report.setup.length === 0 ? [] : [codeBlock(report.setup.map((sql) => `${sql};`).join('\n'), 'sql')]),
    interleavingTable(bug),
    comparisonTable(report.comparisons),
    '## Why this is wrong',
    argumentText(bug, inMarkdown),
    ...report.assumes.map((text) => `Assumes: ${escapeMarkdown(text)}`),
    sources(report.sources),
    accessTable(report),
    '## To reproduce',
    'Save this as `repro.sql`:',
    codeBlock(reproduction.script, 'sql'),
    'Run and judge it:',
    codeBlock(reproduction.command, 'sh'),
    ...standalone(reproduction),
    '## Versions tried',
    table(
      ['engine', 'version', 'settings', 'outcome', 'shown', 'when'],
      report.versions.map((version) => versionLine(version).map(escapeMarkdown)),
    ),
    '## Details',
    report.details.map(({ label, value }) => `- **${label}:** ${escapeMarkdown(value)}`).join('\n'),
    ...(reproduction.hunt === undefined ? [] : ['Found by:', codeBlock(reproduction.hunt, 'sh')]),
    'Behaviour:',
    codeBlock(report.behaviour),
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`;
}

function standalone({ standalone: script }: ReportDocument['reproduction']): string[] {
  if (script === undefined) return [];
  return [
    `Or without Isolde, by the attached ${codeSpan(script.file)}. ${exitCodesText}`,
    codeBlock(`# needs Node 20 and: ${script.needs}\n${script.command}`, 'sh'),
  ];
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

/** The whole case stands below, to be saved. */
const longest = { sql: 2000, result: 1000 };

/** One row an entry, one column a session. */
export function interleavingTable({ history }: Pick<Bug, 'history'>): string {
  const { sessions } = history.header;
  const rows = interleave(history).map(({ session, operation, sql, result, begins }) => {
    const cell = [
      ...(begins === undefined ? [] : [`${escapeMarkdown(begins)}:`]),
      ...(sql === undefined ? [] : [codeCell(shortText(sql, longest.sql))]),
      ...(result === '' ? [] : [codeCell(shortText(result, longest.result))]),
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

function accessTable({ access: rows, accessBy = '' }: ReportDocument): string {
  if (rows.length === 0) return '';
  const cells = rows.map(({ operation, transaction, statement, sees, row, actual, expected, wrong }) => [
    String(operation),
    escapeMarkdown(transaction),
    codeCell(statement),
    sees,
    codeCell(row),
    `${actual === '' ? '' : codeCell(actual)}${wrong ? ' **wrong**' : ''}`,
    codeCell(expected),
  ]);
  return `## Expected access\n\nWhat each statement met, and what ${escapeMarkdown(accessBy)} lets it meet:\n\n${table(accessHeads, cells)}`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => oneLine(cell)).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}
