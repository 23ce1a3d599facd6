/**
 * What a matrix runs: a stored bug, a known bug with its wrong result, or a plain case. Each is asked the same question, whether it
 * shows on a database, and each answers by the way it is run and judged everywhere else.
 *
 * - A **stored bug** shows when its oracle finds the same behaviour again (`store/rerun.ts`).
 * - A **known bug** shows when the wrong result that its case names comes back (`known/run-known.ts`).
 * - A **case** without either shows when an oracle finds anything against the contract (`judge/look-at-case.ts`).
 *
 * One run of several that shows it is enough: the others say how reliably.
 */

import { createHash } from 'node:crypto';
import { parseCaseFile, parseScript, printCaseFile, type ScheduledCase } from '../cases/index.js';
import { isServerFailure } from '../check/index.js';
import { type Contract, findContract, type Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { History } from '../histories/index.js';
import {
  contractAt,
  type Look,
  lookAtCase,
  type Observe,
  type Observed,
  usualChoice,
} from '../judge/index.js';
import {
  findingKey,
  type KnownBug,
  type KnownCase,
  keyOfFinding,
  parseKnownCase,
  runKnown,
} from '../known/index.js';
import type { Bug } from '../report/index.js';
import { inferSchedule, rawInProgram } from '../reproduce/index.js';
import { rerunBug } from '../store/index.js';
import { admit, sqlOfCase, type Target } from '../targets/index.js';
import type { CellResult } from './cell.js';

export type Subject =
  | { readonly kind: 'bug'; readonly id: string; readonly title: string; readonly bug: Bug }
  | {
      readonly kind: 'known';
      readonly id: string;
      readonly title: string;
      readonly known: Pick<KnownBug, 'case'> & { readonly case: KnownCase };
      readonly shipped: boolean;
    }
  | {
      readonly kind: 'case';
      readonly id: string;
      readonly title: string;
      readonly case: ScheduledCase;
    };

export function bugSubject(bug: Bug): Subject {
  return { kind: 'bug', id: bug.id, title: bug.title, bug };
}

/** Undefined: it has no case that could be run. */
export function knownSubject({ id, name, about, from, case: found }: KnownBug): Subject | undefined {
  if (found === undefined) return undefined;
  return {
    kind: 'known',
    id,
    title: about === '' ? name : about,
    known: { case: found },
    shipped: from === 'shipped',
  };
}

/** A file in one of our forms; a script may say what is wrong when the bug shows, as known bugs do. */
export function fileSubject(text: string, file: string): Subject {
  const id = file.replace(/^.*\//, '').replace(/(\.case)?\.\w+$/, '');
  if (/^\s*\{/.test(text)) {
    const scheduled = parseCaseFile(text, file);
    const { description, name } = scheduled.case;
    return { kind: 'case', id, title: description ?? name, case: scheduled };
  }
  const known = parseKnownCase(text, file);
  const title = known.case.description ?? known.case.name;
  return known.wrong.length > 0
    ? { kind: 'known', id, title, known: { case: known }, shipped: false }
    : { kind: 'case', id, title, case: parseScript(text, { file }) };
}

/** The same for the same case and question, whatever it is called. */
export function digestOf(subject: Subject): string {
  const { case: program, schedule } = caseOf(subject);
  const scheduled = { case: program, ...(schedule !== undefined && { schedule }) };
  const asked =
    subject.kind === 'bug'
      ? [subject.bug.signature, subject.bug.finding.oracle, subject.bug.finding.contract, subject.bug.level]
      : subject.kind === 'known'
        ? subject.known.case.wrong
        : [];
  const text = JSON.stringify([subject.kind, printCaseFile(scheduled), asked]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

export function caseOf(subject: Subject): ScheduledCase {
  return subject.kind === 'bug' ? subject.bug : subject.kind === 'known' ? subject.known.case : subject.case;
}

/** Whether it is said to abort the engine, which must then not be inside this process. */
export function mayAbort(subject: Subject): boolean {
  return subject.kind === 'bug' && isServerFailure(subject.bug.finding);
}

export interface SubjectRun {
  readonly target: Target;
  /** Runs and judges one request. */
  readonly observe: (request: Parameters<Observe>[0]) => Promise<Observed>;
  readonly runs: number;
  /** Absent: the case's own. */
  readonly level?: Level | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The user vouches for SQL from files. */
  readonly trust: boolean;
}

/** Runs a subject on a database. What cannot be run there is a result with its reason. */
export async function runSubject(subject: Subject, run: SubjectRun): Promise<CellResult> {
  const { target } = run;
  const level = run.level ?? ownLevel(subject);
  if (level !== undefined && !target.levels.some((offered) => offered.level === level))
    return cannot(`${target.name} has no level ${level}`, target);
  try {
    if (subject.kind !== 'known' || !subject.shipped)
      await admit(target, sqlOfCase(caseOf(subject).case), { trust: run.trust, source: subject.id });
    switch (subject.kind) {
      case 'bug':
        return await runBug(subject.bug, run);
      case 'known':
        return await runKnownCase(subject.known, run);
      case 'case':
        return await runPlain(subject.case, run);
      default:
        return subject satisfies never;
    }
  } catch (error) {
    if (!(error instanceof IsoldeError)) throw error;
    return cannot(error.message, target);
  }
}

function ownLevel(subject: Subject): Level | undefined {
  return subject.kind === 'bug' ? subject.bug.level : caseOf(subject).case.level;
}

function cannot(why: string, target: Target): CellResult {
  return { outcome: 'cannot-run', why: why.split('\n')[0]!, shown: 0, runs: 0, target: target.stamp };
}

async function runBug(bug: Bug, { target, runs, level, signal }: SubjectRun): Promise<CellResult> {
  const asked = level === undefined || level === bug.level ? bug : atLevel(bug, level, target);
  const {
    outcome,
    why,
    shown,
    runs: ran,
  } = await rerunBug(asked, target, { runs, ...(signal && { signal }) });
  const meaning = {
    alive: 'shows',
    fixed: 'does-not-show',
    changed: 'undecided',
    'not-run': 'cannot-run',
  } as const;
  return {
    ...{ outcome: meaning[outcome], why, shown, runs: ran, target: target.stamp },
    ...(outcome === 'alive' && { behaviours: [findingKey(bug)] }),
  };
}

/** The same bug at another level, held to what is promised there. */
function atLevel(bug: Bug, level: Level, target: Target): Bug {
  const { contract, ...finding } = bug.finding;
  const held =
    contract === undefined || findContract(contract) === undefined
      ? undefined
      : contractAt(usualChoice, target, level);
  return {
    ...bug,
    level,
    case: { ...bug.case, level },
    finding: { ...finding, ...(held !== undefined && { contract: held.id }) },
  };
}

async function runKnownCase(
  known: Pick<KnownBug, 'case'> & { readonly case: KnownCase },
  run: SubjectRun,
): Promise<CellResult> {
  const { target, observe, level } = run;
  const program = known.case.case;
  const asked = level === undefined ? known : { case: { ...known.case, case: { ...program, level } } };
  return repeat(run, async () => {
    const { outcome, why, findings } = await runKnown(asked as KnownBug, { target, observe });
    if (outcome === 'shows') return { outcome, why, behaviours: findings.map(keyOfFinding) };
    if (outcome === 'does-not-show') return { outcome, why };
    return { outcome: 'cannot-run', why };
  });
}

/** A case without a schedule is looked at once: one look is as many free runs as it takes. */
async function runPlain(scheduled: ScheduledCase, run: SubjectRun): Promise<CellResult> {
  const { target, signal, observe } = run;
  const { case: program, schedule } = scheduled;
  if (program.dialect !== undefined && program.dialect !== target.dialect)
    return cannot(
      `its SQL is written for ${program.dialect}, ${target.name} speaks ${target.dialect}`,
      target,
    );
  const level = run.level ?? program.level ?? target.defaultLevel;
  const contract: Contract = contractAt(usualChoice, target, level);
  const asked = { ...scheduled, case: { ...program, level } };
  const look = () => lookAtCase(asked, { contract, level }, { target, observe, signal });
  if (schedule !== undefined) return repeat(run, async () => shownBy(asked, await look()));
  const seen = await look();
  if (signal?.aborted === true) return cannot('it was stopped', target);
  const shown = seen.kind === 'found' ? 1 : 0;
  return { ...shownBy(asked, seen), shown, runs: seen.runs, target: target.stamp };
}

function shownBy({ case: program, schedule }: ScheduledCase, look: Look): OneRun {
  if (look.kind === 'found') {
    const { history, findings, order } = look;
    const shown =
      schedule === undefined ? inferredOrder(history, order) : { case: program, schedule, history };
    const behaviours = findings.map((finding) => findingKey({ ...shown, finding }));
    return { outcome: 'shows', why: findings[0].kind, behaviours };
  }
  return look.valid === 'unknown'
    ? { outcome: 'undecided', why: look.unknownReasons[0] ?? 'not everything could be judged' }
    : { outcome: 'does-not-show', why: 'every answer keeps the contract' };
}

function inferredOrder(
  raw: History,
  contract: Contract,
): Required<ScheduledCase> & { readonly history: History } {
  const inferred = inferSchedule(raw, contract, { reasons: false, check: false });
  return { case: inferred.case, schedule: inferred.schedule, history: rawInProgram(inferred) };
}

type OneRun = Pick<CellResult, 'outcome' | 'why' | 'behaviours'>;

/** Several runs as one result; the first that cannot be run ends it. */
async function repeat(
  { runs, signal, target }: SubjectRun,
  once: () => Promise<OneRun>,
): Promise<CellResult> {
  const seen: OneRun[] = [];
  while (seen.length < runs && signal?.aborted !== true) {
    const result = await once();
    if (result.outcome === 'cannot-run') return { ...result, shown: 0, runs: 0, target: target.stamp };
    seen.push(result);
  }
  const shown = seen.filter(({ outcome }) => outcome === 'shows').length;
  const telling =
    seen.find(({ outcome }) => outcome === 'shows') ??
    seen.find(({ outcome }) => outcome === 'undecided') ??
    seen[0];
  if (telling === undefined || signal?.aborted === true) return cannot('it was stopped', target);
  return { ...telling, shown, runs: seen.length, target: target.stamp };
}
