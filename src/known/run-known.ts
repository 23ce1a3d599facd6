/**
 * Runs the case of a known bug: does its wrong result show on this very database, and how does the oracle describe what it
 * finds? Two findings whose descriptions have the same cause are one bug (`dedupe`).
 */
import type { OracleName } from '../check/index.js';
import type { Contract } from '../contracts/index.js';
import { type Behaviour, signatureOf, triggerOf, variantOf } from '../dedupe/index.js';
import { IsoldeError } from '../errors.js';
import { contractAt, type Observed, type RunRequest, usualChoice } from '../judge/index.js';
import type { Target } from '../targets/index.js';
import { showsBug } from './known-case.js';
import type { KnownBug } from './repository.js';

/** Runs and judges in a scratch of its own; what goes wrong with the database is an answer, not an error. */
export type ObserveKnown = (request: RunRequest) => Promise<Observed>;

export interface KnownFinding {
  readonly kind: string;
  readonly signature: string;
  readonly variant: string;
  readonly trigger: string;
}

/** A finding as it is compared. */
export function describeFinding(behaviour: Behaviour): KnownFinding {
  return {
    kind: behaviour.finding.kind,
    signature: signatureOf(behaviour),
    variant: variantOf(behaviour),
    trigger: triggerOf(behaviour),
  };
}

export interface KnownRun {
  /** `ran`: nobody wrote down which result is wrong, or the engine does not speak all of it, but the run was judged. */
  readonly outcome: 'shows' | 'does-not-show' | 'ran' | 'not-run';
  readonly why: string;
  /** What the oracle found in the run. */
  readonly findings: readonly KnownFinding[];
}

export interface JudgeBy {
  readonly oracle: OracleName;
  readonly contract?: Contract;
}

const notRun = (why: string): KnownRun => ({ outcome: 'not-run', why, findings: [] });

/** `by`: who judges; default the mechanism verifier, by what a hunt would hold the database to. */
export async function runKnown(
  known: KnownBug,
  place: { readonly target: Target; readonly observe: ObserveKnown },
  by: JudgeBy = { oracle: 'mechanism' },
): Promise<KnownRun> {
  const { target, observe } = place;
  if (known.case === undefined) return notRun('it has no executable case');
  const { case: program, schedule } = known.case;
  if (program.dialect !== undefined && program.dialect !== target.dialect)
    return notRun(`its SQL is written for ${program.dialect}, ${target.name} speaks ${target.dialect}`);
  const level = program.level ?? target.defaultLevel;
  if (!target.levels.some((offered) => offered.level === level))
    return notRun(`${target.name} has no level ${level}`);
  const contract = by.contract?.level === undefined || by.contract.level === level ? by.contract : undefined;
  const held = contract ?? contractOf(target, level);
  if (held === undefined) return notRun(`no contract is known for ${target.name} at ${level}`);
  const observed = await observe({ case: program, schedule, level, oracle: by.oracle, contract: held });
  if (observed.kind === 'bad-setup') return notRun(`its set-up fails: ${observed.message.split('\n')[0]}`);
  if (observed.kind === 'cut') return notRun('the database went away, or the run was stopped');
  const { history, findings } = observed;
  const behaviours = findings.map((finding): Behaviour => ({ case: program, schedule, finding, history }));
  const shows = showsBug(known.case, history);
  return {
    outcome: shows.shows === 'unknown' ? 'ran' : shows.shows ? 'shows' : 'does-not-show',
    why:
      shows.shows === 'unknown'
        ? shows.why
        : shows.shows
          ? 'the wrong result shows'
          : 'the wrong result does not show',
    findings: behaviours.map(describeFinding),
  };
}

function contractOf(target: Target, level: NonNullable<RunRequest['level']>): Contract | undefined {
  try {
    return contractAt(usualChoice, target, level);
  } catch (error) {
    if (error instanceof IsoldeError) return undefined;
    throw error;
  }
}
