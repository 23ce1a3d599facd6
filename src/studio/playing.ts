/** The playground: a pasted report or a schedule written by hand, run and judged on several databases at once. */
import { parseScript, printScript } from '../cases/index.js';
import type { Finding, JudgedHistory } from '../check/index.js';
import { describeClaim, type FindingLabel, labelOf } from '../contracts/index.js';
import { errorText } from '../errors.js';
import type { History, TargetStamp } from '../histories/index.js';
import { run } from '../judge/index.js';
import { candidateOf, chooseFinding } from '../reduce/index.js';
import {
  contractTitle,
  mechanismOf,
  nameFinding,
  type PhrasePart,
  phraseParts,
  type RunPage,
  runPage,
} from '../report/index.js';
import { admit, sqlOfCase } from '../targets/index.js';
import { type ComparedStatement, compareRuns } from './compared.js';
import { Exactly, type Routes, textIn, textsIn } from './routes.js';
import type { StudioTargets } from './studio-targets.js';

export interface PlayPage {
  readonly runs: readonly PlayedRun[];
  /** Answers of the databases that ran it, side by side, in the order of those runs; empty unless there are two. */
  readonly compared: readonly ComparedStatement[];
}

export type PlayedRun =
  | { readonly target: string; readonly failure: string }
  | {
      readonly target: string;
      readonly name: string;
      readonly level: string;
      readonly contract: string;
      readonly verdict: 'kept' | 'broken' | 'undecided';
      readonly unknownReasons: readonly string[];
      readonly findings: readonly PlayedFinding[];
      readonly setup: readonly string[];
      readonly run: RunPage;
    };

export interface PlayedFinding {
  readonly title: string;
  readonly label: FindingLabel;
  /** The label, and whose promise it is about. */
  readonly claim: string;
  readonly argument: readonly (readonly PhrasePart[])[];
}

const mostTargets = 4;

export function playRoutes(targets: StudioTargets): Routes {
  return {
    'GET targets': () => targets.choices,
    'POST run': async ({ body }): Promise<PlayPage> => {
      const text = textIn(body, 'script');
      const ids = textsIn(body, 'targets').slice(0, mostTargets);
      const played: Played[] = [];
      for (const id of ids) played.push(await playOn(text, id, targets));
      const histories = played.flatMap(({ history }) => (history === undefined ? [] : [history]));
      return { runs: played.map(({ run }) => run), compared: compareRuns(histories) };
    },
    // Whatever notation it was written in, as a script whose lines can be moved.
    'POST arrange': ({ body }) => {
      const text = textIn(body, 'script');
      const scheduled = candidateOf(parseScript(text, { file: 'the case' }));
      return new Exactly({ script: printScript(scheduled) });
    },
  };
}

/** A run for a page; with its history, where it could be run. */
interface Played {
  readonly run: PlayedRun;
  readonly history?: History;
}

/** Runs a case on one database; what keeps it from running is said in its place. */
async function playOn(text: string, id: string, targets: StudioTargets): Promise<Played> {
  const url = targets.choices.find((choice) => choice.id === id)?.url ?? id;
  try {
    const target = await targets.open(id);
    try {
      const scheduled = candidateOf(parseScript(text, { file: 'the case', dialect: target.dialect }));
      await admit(target, sqlOfCase(scheduled.case), { trust: false, source: 'the case' });
      const judged = await run(scheduled, { target });
      const level = scheduled.case.level ?? target.defaultLevel;
      const contract = mechanismOf({ contract: judged.contract, target: target.stamp, level });
      const finding = chooseFinding(judged.findings);
      const page: PlayedRun = {
        target: url,
        name: `${target.stamp.name} ${target.stamp.version}`,
        level,
        contract: judged.contract ?? '',
        verdict: verdictOf(judged),
        unknownReasons: judged.unknownReasons ?? [],
        findings: judged.findings.map((each) => playedFinding(each, target.stamp)),
        setup: scheduled.case.setup,
        run: runPage(judged.history, {
          witnesses: new Set(finding?.operations.map(({ index }) => index)),
          finding,
          contract,
          scheduled,
        }),
      };
      return { run: page, history: judged.history };
    } finally {
      await target.close();
    }
  } catch (error) {
    return { run: { target: url, failure: errorText(error) } };
  }
}

function verdictOf({ valid }: JudgedHistory): 'kept' | 'broken' | 'undecided' {
  return valid === 'unknown' ? 'undecided' : valid ? 'kept' : 'broken';
}

function playedFinding(finding: Finding, target: TargetStamp): PlayedFinding {
  const label = labelOf(finding);
  return {
    title: nameFinding(finding.kind),
    label,
    claim: `${describeClaim({ ...finding, target })}: ${contractTitle(finding)}`,
    argument: phraseParts(finding),
  };
}
