/**
 * The vendor's bug form, filled in with what each vendor asks for, as Markdown or plain text to paste. What only the
 * reporter knows (the operating system of a remote server) is left as a line to fill in.
 */

import { headlineOf } from '../../dedupe/index.js';
import { codeBlock, codeSpan, escapeMarkdown, isWebAddress } from '../../markup.js';
import { type BugField, type BugPart, findDeclaration } from '../../targets/index.js';
import { oneLine } from '../../visible.js';
import { counted } from '../../words.js';
import { argumentMarkdown, summaryMarkdown } from '../argument.js';
import type { Bug } from '../bug.js';
import { type Comparison, compareAnswers } from '../comparison.js';
import { reportDocument } from '../document.js';
import { contractName, versionLine, versionsOf } from '../facts.js';
import { interleavingTable } from '../markdown.js';
import { nameEngine } from '../names.js';
import type { ExportForm } from './export.js';
import { mtrExport } from './mtr.js';
import { specExport } from './spec.js';
import { replayBatches } from './steps.js';

export const formExport: ExportForm = {
  name: 'form',
  unfit: () => undefined,
  files: (bug) => {
    const fields = findDeclaration(bug.target.name)?.bugForm ?? generalForm;
    const text = fields.map((field) => printField(bug, field)).join('\n');
    return [{ name: 'bug-report.md', text: `<!-- ${commentSafe(bug.title)} -->\n\n${text}` }];
  },
};

function printField(bug: Bug, { title, content }: BugField): string {
  const parts = content.map((part) => (typeof part === 'string' ? partTexts[part](bug) : part.text));
  return `### ${title}\n\n${parts.join('\n\n')}\n`;
}

const partTexts: Readonly<Record<Extract<BugPart, string>, (bug: Bug) => string>> = {
  synopsis,
  description,
  steps,
  expected,
  actual,
  argument,
  environment,
  version: (bug) => codeSpan(bug.target.version),
  'engine-version': (bug) => `${escapeMarkdown(nameEngine(bug.target.name))} ${codeSpan(bug.target.version)}`,
  'version-block': (bug) => codeBlock(bug.target.version),
  'server-os': () => '(the operating system of the server)',
  'client-os': () => `${process.platform} ${process.arch}`,
  'mtr-test': asTest,
  'isolation-spec': asSpec,
};

/** For engines whose vendor has no form, or none that we know. */
const generalForm: readonly BugField[] = [
  { title: 'Summary', content: ['synopsis'] },
  { title: 'Version', content: ['engine-version'] },
  { title: 'Environment', content: ['environment'] },
  { title: 'Steps to reproduce', content: ['steps'] },
  { title: 'Expected', content: ['expected'] },
  { title: 'Actual', content: ['actual'] },
  { title: 'Why this is wrong', content: ['argument'] },
];

/** The title without engine and version, which every form asks for elsewhere. */
function synopsis(bug: Bug): string {
  return escapeMarkdown(`${bug.level.toUpperCase()}: ${headlineOf(bug)}`);
}

function description(bug: Bug): string {
  return [
    summaryMarkdown(reportDocument(bug).summary),
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
  return [promise, ...(links.length === 0 ? [] : [links.join('\n')]), argumentMarkdown(bug)].join('\n\n');
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

function listOf(bug: Bug, choose: (one: Comparison) => string): string {
  return compareAnswers(bug)
    .map((one) => `${escapeMarkdown(one.transaction)} ${codeSpan(one.statement)}: ${codeSpan(choose(one))}`)
    .join('\n\n');
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
