/** The table of finding kinds as Markdown, for `docs/stages/findings.md`. */
import type { FindingKindDescription } from './finding-kinds.js';

/** One table of names, one of what their findings hold. */
export function findingKindsMarkdown(kinds: readonly FindingKindDescription[]): string {
  return [
    '### What each kind means',
    '',
    tableRow(['kind', 'title', 'meaning', 'also']),
    tableRow(['---', '---', '---', '---']),
    ...kinds.map(({ kind, title, meaning, partOf }) =>
      tableRow([`\`${kind}\``, title, meaning, partOf.map((each) => `\`${each}\``).join(', ') || '·']),
    ),
    '',
    '### What its findings hold',
    '',
    tableRow(['kind', 'reported by', 'operations, in this order', 'expected', 'clauses']),
    tableRow(['---', '---', '---', '---', '---']),
    ...kinds.map((row) =>
      tableRow([
        `\`${row.kind}\``,
        row.oracles.join(', ') || 'probe only',
        row.roles.join('; '),
        row.expected,
        row.clauses.map((each) => (each === 'always' ? each : `\`${each}\``)).join(', '),
      ]),
    ),
    '',
  ].join('\n');
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
