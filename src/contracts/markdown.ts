/** The table of contracts as Markdown, for `docs/stages/contracts.md`. */
import { anomalies } from './anomaly.js';
import type { Contract, Mechanism } from './contract.js';

/** Two tables: what each contract forbids, and how each vendor's engine keeps it. */
export function contractsMarkdown(contracts: readonly Contract[]): string {
  return [
    '### What each contract forbids',
    '',
    ...promiseTable(contracts),
    '',
    '`●` forbidden, `·` allowed.',
    '',
    '### How the engines work',
    '',
    ...mechanismTable(contracts),
    '',
    '### Sources',
    '',
    ...sourceList(contracts),
    '',
  ].join('\n');
}

function promiseTable(contracts: readonly Contract[]): string[] {
  const ids = anomalies.map((anomaly) => anomaly.id);
  return [
    tableRow(['contract', ...ids]),
    tableRow(['---', ...ids.map(() => ':-:')]),
    ...contracts.map((contract) =>
      tableRow([`\`${contract.id}\``, ...ids.map((id) => (contract.forbids.includes(id) ? '●' : '·'))]),
    ),
  ];
}

function mechanismTable(contracts: readonly Contract[]): string[] {
  const header = [
    'contract',
    'protocol',
    'plain reads see',
    'writes see',
    'locking reads see',
    'second writer',
    'reads lock',
    'first updater wins',
    'certifier',
    'reported beyond the manual',
  ];
  const rows = contracts.flatMap(({ id, mechanism }) =>
    mechanism === undefined
      ? []
      : [
          tableRow([
            `\`${id}\``,
            mechanism.protocol,
            mechanism.pivot +
              (mechanism.snapshotMoves ? ' (may move)' : mechanism.snapshotPer ? ' (each table)' : '') +
              (mechanism.otherNodesLag ? ' (other nodes lag)' : ''),
            mechanism.writesSearchUncommitted === true
              ? `${mechanism.writesSee} (searched among uncommitted ones)`
              : mechanism.writesSee,
            mechanism.lockingReadsSee,
            mechanism.writeConflict,
            mechanism.readsLock ? 'yes' : mechanism.readsLockBriefly ? 'briefly' : 'no',
            mechanism.firstUpdaterWins ? 'yes' : 'no',
            mechanism.certifier,
            reportedClauses(mechanism),
          ]),
        ],
  );
  return [tableRow(header), tableRow(header.map(() => '---')), ...rows];
}

function reportedClauses({ ownDeletesHide, subqueriesSee }: Mechanism): string {
  const clauses = [
    ...(ownDeletesHide === true ? ['own deletes hide'] : []),
    ...(subqueriesSee === undefined ? [] : [`subqueries see the ${subqueriesSee}`]),
  ];
  return clauses.join(', ') || '·';
}

/** One line per contract and page, with the clauses it backs. */
function sourceList(contracts: readonly Contract[]): string[] {
  return contracts.flatMap((contract) => {
    const pages = new Map<string, { title: string; clauses: Set<string> }>();
    for (const { url, title, clause } of contract.sources) {
      const page = pages.get(url) ?? { title, clauses: new Set<string>() };
      page.clauses.add(clause);
      pages.set(url, page);
    }
    return [
      `- \`${contract.id}\` (${contract.title})`,
      ...[...pages].map(([url, { title, clauses }]) => `  - [${title}](${url}): ${[...clauses].join(', ')}`),
    ];
  });
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
