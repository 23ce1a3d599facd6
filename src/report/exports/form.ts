/**
 * The vendor's bug form, filled in with what each vendor asks for, to paste. What only the reporter knows (the operating system of a
 * remote server) is left as a line to fill in.
 */

import { headlineOf } from '../../dedupe/index.js';
import { type BugField, type BugPart, findDeclaration } from '../../targets/index.js';
import { oneLine } from '../../visible.js';
import { counted } from '../../words.js';
import { argumentText, summaryText } from '../argument.js';
import type { Bug } from '../bug.js';
import type { Comparison } from '../comparison.js';
import { type ReportDocument, reportDocument } from '../document.js';
import { contractTitle, versionLine } from '../facts.js';
import { nameEngine } from '../names.js';
import type { ExportForm } from './export.js';
import { type FormMarkup, markdownForm, plainForm } from './form-markup.js';
import { mtrExport } from './mtr.js';
import { specExport } from './spec.js';
import { replayBatches } from './steps.js';

export const formExport: ExportForm = {
  name: 'form',
  unfit: () => undefined,
  files: (bug) => {
    const { bugForm = generalForm, plainBugForm } = findDeclaration(bug.target.name) ?? {};
    const markup = plainBugForm === true ? plainForm : markdownForm;
    const filled: Filled = { bug, report: reportDocument(bug), markup };
    return [{ name: markup.file, text: bugForm.map((field) => printField(filled, field)).join('\n') }];
  },
};

interface Filled {
  readonly bug: Bug;
  readonly report: ReportDocument;
  readonly markup: FormMarkup;
}

function printField(filled: Filled, { title, content }: BugField): string {
  const parts = content.map((part) => (typeof part === 'string' ? partTexts[part](filled) : part.text));
  return filled.markup.field(title, parts.filter((part) => part !== '').join('\n\n'));
}

const partTexts: Readonly<Record<Extract<BugPart, string>, (filled: Filled) => string>> = {
  synopsis,
  description,
  steps,
  expected: (filled) => listOf(filled, ({ expected }) => expected),
  actual: (filled) => listOf(filled, ({ actual }) => actual),
  argument,
  environment,
  version: ({ bug, markup }) => markup.code(bug.target.version),
  'engine-version': ({ bug, markup }) =>
    `${markup.text(nameEngine(bug.target.name))} ${markup.code(bug.target.version)}`,
  'version-block': ({ bug, markup }) => markup.block(bug.target.version),
  'server-os': () => '(the operating system of the server)',
  'client-os': ({ bug, markup }) => markup.text(bug.environment ?? '(the operating system)'),
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
function synopsis({ bug, markup }: Filled): string {
  const fault = injected(bug) === '' ? '' : ' with an injected fault';
  return markup.text(`${bug.level.toUpperCase()}${fault}: ${headlineOf(bug)}`);
}

/** Nobody files by accident what Isolde itself did. */
function injected({ target }: Bug): string {
  const fault = target.settings?.fault;
  return fault === undefined ? '' : `This is no bug of the engine: Isolde injected the fault ${fault}.`;
}

function description(filled: Filled): string {
  const { bug, report, markup } = filled;
  const fault = injected(bug);
  return [
    ...(fault === '' ? [] : [markup.text(fault)]),
    summaryText(report.summary, markup.style),
    `Actual: ${partTexts.actual(filled)}`,
    `Expected: ${partTexts.expected(filled)}`,
    argument(filled),
    `It showed in ${bug.reproduced.shown} of ${bug.reproduced.runs} runs.`,
    'Versions tried:',
    report.versions
      .map((version) => `- ${markup.text(versionLine(version).filter(Boolean).join(', '))}`)
      .join('\n'),
  ].join('\n\n');
}

/** Whose promise it is, why it is broken, and where it is written down: places that the steps name are not named again. */
function argument({ bug, report, markup }: Filled): string {
  const links = report.sources.map(({ title, url }) => `- ${markup.link(title, url)}`);
  return [
    `Why this is wrong, by ${markup.text(contractTitle(bug))}:`,
    argumentText(bug, markup.style),
    ...(links.length === 0 ? [] : [links.join('\n')]),
  ].join('\n\n');
}

/** SQL anybody can follow by hand: set-up first, then one statement a line behind its session's name. */
function steps({ bug, markup }: Filled): string {
  const names = bug.case.sessions.map(({ name }) => name);
  const lines = [
    ...bug.case.setup.map((sql) => `${sql};`),
    '',
    `-- ${counted(names.length, 'session')}, each at ${bug.level.toUpperCase()}`,
    ...replayBatches(bug).flatMap((batch) =>
      batch.map(({ session, sql }) => `/* ${oneLine(names[session]!).replaceAll('*/', '* /')} */ ${sql};`),
    ),
  ];
  return `${markup.block(lines.join('\n'), 'sql')}\n\nWith results in place:\n\n${markup.interleaving(bug)}`;
}

function listOf({ report, markup }: Filled, choose: (one: Comparison) => string): string {
  return report.comparisons
    .map(
      (one) => `${markup.text(one.transaction)} ${markup.code(one.statement)}: ${markup.code(choose(one))}`,
    )
    .join('\n\n');
}

function environment({ bug, markup }: Filled): string {
  const settings = Object.entries(bug.target.settings ?? {});
  const set = settings.map(([name, value]) => markup.code(`${name} = ${value}`)).join(', ');
  return [bug.environment === undefined ? '' : markup.text(bug.environment), set || 'default settings']
    .filter((part) => part !== '')
    .join('; ');
}

function asTest({ bug, markup }: Filled): string {
  if (mtrExport.unfit(bug) !== undefined) return '';
  const [test, result] = mtrExport.files(bug);
  return `As an mtr test:\n\n${markup.block(test!.text)}\n\nwith its result today:\n\n${markup.block(result!.text)}`;
}

function asSpec({ bug, markup }: Filled): string {
  if (specExport.unfit(bug) !== undefined) return '';
  return `As an isolationtester spec:\n\n${markup.block(specExport.files(bug)[0]!.text)}`;
}
