/**
 * The report of a bug, once, as data. Markdown, HTML, the terminal and the vendors' forms render it and add nothing.
 *
 * It is written for the maintainer who must triage it. First what fits on a screen: the title, what happened in two
 * sentences, set-up and interleaving with results in place, and what sessions printed beside what they should have printed. Then
 * why that is wrong, how to see it on another machine, where else it was tried; last everything that only helps to look the
 * bug up again.
 */
import { printScript } from '../cases/index.js';
import { findOracle, type Phrase, phrase, type Step, say, usualOracle } from '../check/index.js';
import {
  type ContractSource,
  describeClaim,
  describeKind,
  type FindingLabel,
  findContract,
  labelOf,
} from '../contracts/index.js';
import type { KnownVerdict } from '../known/index.js';
import { findDeclaration } from '../targets/index.js';
import { shellWord } from '../visible.js';
import { type AccessRow, accessRows } from './access-table.js';
import type { Bug, VersionTried } from './bug.js';
import { type Comparison, compareAnswers } from './comparison.js';
import { type Standalone, standaloneOf } from './exports/standalone.js';
import { type Fact, factsOf, versionsOf } from './facts.js';
import { foundUrl, versionNamedBy } from './home-url.js';
import { mechanismOf } from './mechanism-of.js';
import { nameEngine } from './names.js';
import { shortText } from './shown.js';

export interface ReportDocument {
  readonly title: string;
  readonly label: FindingLabel;
  /** "DuckDB 1.5.5, SNAPSHOT; breaks the manual; shown in 20 of 20 runs". */
  readonly standing: string;
  /** What happened, and what should have happened. */
  readonly summary: readonly Step[];
  /** Who has reported it already. */
  readonly known?: KnownVerdict;
  readonly setup: readonly string[];
  readonly comparisons: readonly Comparison[];
  readonly argument: readonly Step[];
  /** What each operation met, and should have met. */
  readonly access: readonly AccessRow[];
  /** The contract that says what they should have met, by its title. */
  readonly accessBy?: string;
  readonly assumes: readonly string[];
  /** Where the promise is written down; each place once, and not those that the argument names. */
  readonly sources: readonly ContractSource[];
  readonly reproduction: Reproduction;
  readonly versions: readonly VersionTried[];
  readonly details: readonly Fact[];
  /** What the signature is made from. */
  readonly behaviour: string;
}

/** How to see it on a machine that has nothing of ours. */
export interface Reproduction {
  /** The case with its order, to be saved as `repro.sql`. */
  readonly script: string;
  /** Runs and judges it; needs nothing but Node and npm. */
  readonly command: string;
  /** The same without Isolde: the script that is exported with the bug, where its engine has a driver for Node. */
  readonly standalone?: Standalone;
  /** The hunt that finds it, where its seed alone does. */
  readonly hunt?: string;
}

export function reportDocument(bug: Bug): ReportDocument {
  const label = labelOf(bug);
  const comparisons = compareAnswers(bug).map(shortened);
  return {
    title: bug.title,
    label,
    standing: `${nameEngine(bug.target.name)} ${bug.target.version}, ${bug.level.toUpperCase()}; ${describeClaim(bug)}${bug.notIsolation === true ? '; not isolation' : ''}; shown in ${bug.reproduced.shown} of ${bug.reproduced.runs} runs`,
    summary: summarize(bug, comparisons),
    ...(bug.known === undefined ? {} : { known: bug.known }),
    setup: bug.case.setup,
    comparisons,
    argument: bug.finding.explanation,
    access: accessRows(bug).map((row) => ({
      ...row,
      statement: shortText(row.statement, longest.statement),
      actual: shortText(row.actual, longest.answer),
      expected: shortText(row.expected, longest.answer),
    })),
    ...accessBy(bug),
    assumes: bug.finding.assumes ?? [],
    sources: sourcesOf(bug),
    reproduction: reproduce(bug),
    versions: versionsOf(bug),
    details: factsOf(bug),
    behaviour: bug.behaviour,
  };
}

/** All of it must fit on the first screen: of a value that fills screens alone, the beginning tells enough. */
const longest = { statement: 600, answer: 300 };

function shortened(comparison: Comparison): Comparison {
  const { statement, actual, expected } = comparison;
  return {
    ...comparison,
    statement: shortText(statement, longest.statement),
    actual: shortText(actual, longest.answer),
    expected: shortText(expected, longest.answer),
  };
}

function accessBy(bug: Bug): Pick<ReportDocument, 'accessBy'> {
  const contract = mechanismOf(bug);
  return contract === undefined ? {} : { accessBy: contract.title };
}

function sourcesOf({ sources, finding }: Bug): readonly ContractSource[] {
  const named = new Set(
    finding.explanation.flatMap(({ says }) =>
      says.flatMap((piece) => (typeof piece === 'object' && 'source' in piece ? [piece.source.url] : [])),
    ),
  );
  return sources.filter(
    ({ url }, i, all) => !named.has(url) && all.findIndex((other) => other.url === url) === i,
  );
}

/** Two sentences: what is wrong in general, then what was seen here and what the contract asks for. */
function summarize(bug: Bug, comparisons: readonly Comparison[]): Step[] {
  const { meaning } = describeKind(bug.finding.kind);
  const contract = bug.contract === undefined ? undefined : findContract(bug.contract);
  const [first] = comparisons;
  if (first === undefined) return [say.fact`${meaning}`];
  const closing = comparisons.find((each) => each !== first && each.closing === true);
  const gave: Phrase =
    closing === undefined
      ? answered(first)
      : phrase`${answered(first)}, and at the end ${{ data: closing.statement }} gave ${{ data: closing.actual }}`;
  const asked: Phrase = phrase`${{ data: (closing ?? first).expected }}`;
  const expected: Phrase =
    contract === undefined ? phrase`${asked} was expected` : phrase`${contract.title} asks for ${asked}`;
  return [say.fact`${meaning}`, say.fact`Here ${gave}, where ${expected}.`];
}

function answered({ transaction, statement, actual }: Comparison): Phrase {
  if (statement === '') return phrase`${{ data: actual }}`;
  const of = transaction === '' ? '' : ` of ${transaction}`;
  return phrase`${{ data: statement }}${of} gave ${{ data: actual }}`;
}

function reproduce(bug: Bug): Reproduction {
  const { case: program, schedule, contract, finding, level } = bug;
  const script = printScript(
    { case: { ...program, level: program.level ?? level }, schedule },
    { inComments: true },
  );
  const url = foundUrl(bug) ?? `${bug.target.name}://USER@HOST/DATABASE`;
  const fetched =
    versionNamedBy(bug.target) !== undefined && findDeclaration(bug.target.name)?.releases !== undefined;
  const usual = usualOracle(findContract(contract ?? ''));
  // Names of an imported bug are a stranger's: on a command line stand only those that exist.
  const judged = [
    ...(contract !== undefined && findContract(contract) !== undefined ? ['--contract', contract] : []),
    ...(finding.oracle !== usual.name && findOracle(finding.oracle) !== undefined
      ? ['--oracle', finding.oracle]
      : []),
  ];
  const words = [
    'npx',
    'isolde-db',
    'run',
    'repro.sql',
    '--check',
    '--target',
    url,
    ...(fetched ? ['--fetch'] : []),
    ...judged,
  ];
  const standalone = standaloneOf(bug);
  const hunt = huntElsewhere(bug.replay);
  return {
    script,
    command: words.map(shellWord).join(' '),
    ...(standalone === undefined ? {} : { standalone }),
    ...(hunt === undefined ? {} : { hunt }),
  };
}

/** The command that found a bug, for another machine: what rests on files or a store of this one is of no use there. */
function huntElsewhere(replay: string): string | undefined {
  const [npx, isolde, command, ...options] = replay.split(' ');
  if (npx !== 'npx' || isolde !== 'isolde' || command !== 'hunt') return undefined;
  if (options.some((word) => ['--reuse', '--store', '--template'].includes(word))) return undefined;
  return ['npx', 'isolde-db', 'hunt', ...options].join(' ');
}
