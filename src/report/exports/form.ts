/**
 * The vendor's bug form, filled in with what each vendor asks for, as Markdown or plain text to paste. What only the
 * reporter knows (the operating system of a remote server) is left as a line to fill in.
 */
import { counted } from '../../words.js';
import type { Bug } from '../bug.js';
import { argumentOf, discrepancies, witnessOperations } from '../evidence.js';
import { contractName, versionLine, versionsOf } from '../facts.js';
import { interleavingTable } from '../markdown.js';
import { nameEngine, nameFinding } from '../names.js';
import { codeBlock, codeSpan, escapeMarkdown, isWebAddress, oneLine } from '../text.js';
import type { ExportForm } from './export.js';
import { mtrExport } from './mtr.js';
import { specExport } from './spec.js';
import { replayBatches } from './steps.js';

type Field = readonly [title: string, text: string];

export const formExport: ExportForm = {
  name: 'form',
  unfit: () => undefined,
  files: (bug) => {
    const fields = (forms[bug.target.name] ?? generic)(bug);
    const text = fields.map(([title, body]) => `### ${title}\n\n${body}\n`).join('\n');
    return [{ name: 'bug-report.md', text: `<!-- ${commentSafe(bug.title)} -->\n\n${text}` }];
  },
};

const forms: Readonly<Record<string, (bug: Bug) => readonly Field[]>> = {
  tidb: (bug) => [
    ['1. Minimal reproduce step', steps(bug)],
    ['2. What did you expect to see?', expected(bug)],
    ['3. What did you see instead', actual(bug)],
    ['4. What is your TiDB version?', codeBlock(bug.target.version)],
  ],
  mysql: (bug) => [
    ['Synopsis', synopsis(bug)],
    ['Version', codeSpan(bug.target.version)],
    ['OS', operatingSystem],
    ['Severity', 'S3 (Non-critical)'],
    ['Category', 'MySQL Server: InnoDB storage engine'],
    ['Description', description(bug)],
    ['How to repeat', `${steps(bug)}\n\n${asTest(bug)}`],
    ['Suggested fix', 'None.'],
  ],
  mariadb: (bug) => [
    ['Summary', synopsis(bug)],
    ['Affects Version/s', codeSpan(bug.target.version)],
    ['Component/s', 'Storage Engine - InnoDB'],
    ['Environment', environment(bug)],
    ['Description', `${description(bug)}\n\n${steps(bug)}\n\n${asTest(bug)}`],
  ],
  postgres: (bug) => [
    ['PostgreSQL version', codeSpan(bug.target.version)],
    ['Operating system', operatingSystem],
    ['Short description', synopsis(bug)],
    ['Exact steps, from start-up', `${steps(bug)}\n\n${asSpec(bug)}`],
    ['The output you got', actual(bug)],
    ['The output you expected', expected(bug)],
    ['Settings', environment(bug)],
  ],
  duckdb: (bug) => [
    ['What happens?', description(bug)],
    ['To Reproduce', steps(bug)],
    ['OS', `${process.platform} ${process.arch}`],
    ['DuckDB Version', codeSpan(bug.target.version)],
    ['DuckDB Client', 'Node.js (`@duckdb/node-api`)'],
  ],
};

function generic(bug: Bug): readonly Field[] {
  return [
    ['Summary', synopsis(bug)],
    ['Version', `${escapeMarkdown(nameEngine(bug.target.name))} ${codeSpan(bug.target.version)}`],
    ['Environment', environment(bug)],
    ['Steps to reproduce', steps(bug)],
    ['Expected', expected(bug)],
    ['Actual', actual(bug)],
    ['Why this is wrong', argument(bug)],
  ];
}

const operatingSystem = '(the operating system of the server)';

function synopsis(bug: Bug): string {
  return escapeMarkdown(`${bug.level.toUpperCase()}: ${nameFinding(bug.finding.kind)}`);
}

function description(bug: Bug): string {
  return [
    `At ${escapeMarkdown(bug.level.toUpperCase())}, ${escapeMarkdown(nameFinding(bug.finding.kind))}.`,
    `Expected: ${expected(bug)}`,
    `Actual: ${actual(bug)}`,
    argument(bug),
    `It showed in ${bug.reproduced.shown} of ${bug.reproduced.runs} runs.`,
    'Versions tried:',
    versionsOf(bug)
      .map((version) => `- ${escapeMarkdown(versionLine(version).filter(Boolean).join(', '))}`)
      .join('\n'),
  ].join('\n\n');
}

function argument(bug: Bug): string {
  const links = bug.sources.map(({ title, url }) => {
    return `- ${escapeMarkdown(title)}: ${isWebAddress(url) ? `<${url}>` : codeSpan(url)}`;
  });
  const promise = `The promise broken is ${codeSpan(bug.clause)} of ${escapeMarkdown(contractName(bug))}.`;
  return [promise, ...(links.length === 0 ? [] : [links.join('\n')]), codeBlock(argumentOf(bug))].join(
    '\n\n',
  );
}

/** SQL anybody can follow by hand: set-up first, then one statement a line behind its session's name. */
function steps(bug: Bug): string {
  const names = bug.case.sessions.map(({ name }) => name);
  const lines = [
    ...bug.case.setup.map((sql) => `${sql};`),
    '',
    `-- ${counted(names.length, 'session')}, each at ${bug.level.toUpperCase()}`,
    ...replayBatches(bug).flatMap((batch) =>
      batch.map(({ session, sql }) => `/* ${oneLine(names[session]!).replaceAll('*/', '* /')} */ ${sql};`),
    ),
  ];
  return `${codeBlock(lines.join('\n'), 'sql')}\n\nWith results in place:\n\n${interleavingTable(bug)}`;
}

function expected(bug: Bug): string {
  return listOf(bug, ({ expected: text }) => text);
}

function actual(bug: Bug): string {
  return listOf(bug, ({ actual: text }) => text);
}

function listOf(bug: Bug, choose: (one: ReturnType<typeof discrepancies>[number]) => string): string {
  const list = discrepancies(bug).map(
    (one) =>
      `${escapeMarkdown(one.session)} ${codeSpan(one.statement)}, ${codeSpan(one.object)}: ${codeSpan(choose(one))}`,
  );
  if (list.length > 0) return list.join('\n\n');
  const witnesses = witnessOperations(bug).map(({ sql }) => codeSpan(sql ?? ''));
  return `see the argument; the statements concerned are ${witnesses.join(', ')}`;
}

function environment(bug: Bug): string {
  const settings = Object.entries(bug.target.settings ?? {});
  if (settings.length === 0) return 'default settings';
  return settings.map(([name, value]) => codeSpan(`${name} = ${value}`)).join(', ');
}

function asTest(bug: Bug): string {
  if (mtrExport.unfit(bug) !== undefined) return '';
  const [test, result] = mtrExport.files(bug);
  return `As an mtr test:\n\n${codeBlock(test!.text)}\n\nwith its result today:\n\n${codeBlock(result!.text)}`;
}

function asSpec(bug: Bug): string {
  if (specExport.unfit(bug) !== undefined) return '';
  return `As an isolationtester spec:\n\n${codeBlock(specExport.files(bug)[0]!.text)}`;
}

function commentSafe(text: string): string {
  return oneLine(text).replaceAll(/[<>-]+/g, (run) => (run === '-' ? '-' : ' '));
}
