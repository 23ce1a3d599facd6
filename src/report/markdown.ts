/** The report as Markdown, for issue trackers. Data stands only in code spans, fences and escaped prose. */
import { printScript } from '../cases/index.js';
import { interleave } from '../histories/index.js';
import { codeBlock, codeCell, codeSpan, escapeMarkdown, isWebAddress } from '../markup.js';
import { oneLine } from '../visible.js';
import { argumentMarkdown } from './argument.js';
import type { Bug } from './bug.js';
import { discrepancies } from './evidence.js';
import { factsOf, versionLine, versionsOf } from './facts.js';

export function reportMarkdown(bug: Bug): string {
  return `${[
    `# ${escapeMarkdown(bug.title)}`,
    factsOf(bug)
      .map(({ label, value }) => `- **${label}:** ${escapeMarkdown(value)}`)
      .join('\n'),
    sources(bug),
    '## Interleaving',
    'Time goes down; each column is a session, results in place.',
    interleavingTable(bug),
    '## Expected against actual',
    expectations(bug),
    '## Why this is wrong',
    argumentMarkdown(bug),
    ...(bug.finding.assumes ?? []).map((text) => `Assumes: ${escapeMarkdown(text)}`),
    '## To reproduce',
    codeBlock(bug.replay, 'sh'),
    'The case and its order, for `isolde run`:',
    codeBlock(printScript(bug), 'sql'),
    '## Versions tried',
    table(
      ['engine', 'version', 'settings', 'outcome', 'shown', 'when'],
      versionsOf(bug).map((version) => versionLine(version).map(escapeMarkdown)),
    ),
    '## Behaviour signature',
    codeBlock(bug.behaviour),
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`;
}

function sources({ sources: list }: Bug): string {
  return list
    .map(({ clause, title, url }) => {
      const link = isWebAddress(url) ? `<${url}>` : codeSpan(url);
      return `- Source (${escapeMarkdown(clause)}): ${escapeMarkdown(title)}, ${link}`;
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

function expectations(bug: Bug): string {
  const list = discrepancies(bug);
  if (list.length === 0) return 'See the argument below.';
  return table(
    ['transaction', 'statement', 'object', 'actual', 'expected'],
    list.map(({ transaction, statement, object, actual, expected }) => [
      escapeMarkdown(transaction),
      codeCell(statement),
      codeCell(object),
      codeCell(actual),
      codeCell(expected),
    ]),
  );
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => oneLine(cell)).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}
