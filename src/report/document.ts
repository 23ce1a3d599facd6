/**
 * The report of a bug, once, as data. Markdown, HTML, the terminal and the vendors' forms render it and add nothing.
 *
 * It is written for the maintainer who must triage it. First what fits on a screen: the title, what happened in two
 * sentences, set-up and interleaving with results in place, and what sessions printed beside what they should have printed. Then
 * why that is wrong, how to see it on another machine, where else it was tried; last everything that only helps to look the
 * bug up again.
 */
import { printScript } from '../cases/index.js';
import { findOracle, type Phrase, phrase, type Step, say } from '../check/index.js';
import {
  type ContractSource,
  describeKind,
  describeLabel,
  type FindingLabel,
  findContract,
  labelOf,
} from '../contracts/index.js';
import type { KnownVerdict } from '../known/index.js';
import { shellWord } from '../visible.js';
import type { Bug, VersionTried } from './bug.js';
import { type Comparison, compareAnswers } from './comparison.js';
import { type Fact, factsOf, versionsOf } from './facts.js';
import { homeUrl } from './home-url.js';
import { nameEngine } from './names.js';

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
  readonly assumes: readonly string[];
  /** Where the promise is written down; each place once, and not those that the argument names. */
  readonly sources: readonly ContractSource[];
  readonly reproduction: Reproduction;
  readonly versions: readonly VersionTried[];
  readonly details: readonly Fact[];
  /** What the signature is made from. */
  readonly behaviour: string;
}

export interface Reproduction {
  /** The case with its order, to be saved as `repro.sql`. */
  readonly script: string;
  /** Runs and judges it; needs nothing but Node and npm. */
  readonly command: string;
  /** The line that found it, where a seed does. */
  readonly again: string;
}

export function reportDocument(bug: Bug): ReportDocument {
  const label = labelOf(bug);
  const comparisons = compareAnswers(bug);
  return {
    title: bug.title,
    label,
    standing: `${nameEngine(bug.target.name)} ${bug.target.version}, ${bug.level.toUpperCase()}; ${describeLabel(label)}${bug.notIsolation === true ? '; not isolation' : ''}; shown in ${bug.reproduced.shown} of ${bug.reproduced.runs} runs`,
    summary: summarize(bug, comparisons),
    ...(bug.known === undefined ? {} : { known: bug.known }),
    setup: bug.case.setup,
    comparisons,
    argument: bug.finding.explanation,
    assumes: bug.finding.assumes ?? [],
    sources: sourcesOf(bug),
    reproduction: reproduce(bug),
    versions: versionsOf(bug),
    details: factsOf(bug),
    behaviour: bug.behaviour,
  };
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

/** What is wrong in general, then what was seen here and what the contract asks for. */
function summarize(bug: Bug, comparisons: readonly Comparison[]): Step[] {
  const { meaning } = describeKind(bug.finding.kind);
  const contract = bug.contract === undefined ? undefined : findContract(bug.contract);
  const whose = contract === undefined ? 'Expected' : `${contract.title} asks for`;
  const [first] = comparisons;
  if (first === undefined) return [say.fact`${meaning}`];
  const answered: Phrase =
    first.statement === ''
      ? phrase`${{ data: first.actual }}`
      : phrase`${{ data: first.statement }}${first.transaction === '' ? '' : ` of ${first.transaction}`} gave ${{ data: first.actual }}`;
  return [say.fact`${meaning}`, say.fact`Here ${answered}. ${whose}: ${{ data: first.expected }}.`];
}

function reproduce(bug: Bug): Reproduction {
  const { case: program, schedule, contract, finding, level } = bug;
  const script = printScript({ case: { ...program, level: program.level ?? level }, schedule });
  const url = homeUrl(bug) ?? `${bug.target.name}://USER@HOST/DATABASE`;
  // Names of an imported bug are a stranger's: on a command line stand only those that exist.
  const judged = [
    ...(contract !== undefined && findContract(contract) !== undefined ? ['--contract', contract] : []),
    ...(finding.oracle !== 'mechanism' && findOracle(finding.oracle) !== undefined
      ? ['--oracle', finding.oracle]
      : []),
  ];
  const words = ['npx', 'isolde-db', 'run', 'repro.sql', '--check', '--target', url, ...judged];
  return { script, command: words.map(shellWord).join(' '), again: bug.replay };
}
