/**
 * Runs the case of a known bug: does its wrong result show on this very database, and how does the oracle describe what it
 * finds? Two findings whose descriptions have the same cause are one bug (`dedupe`).
 */
import type { ScheduledCase } from '../cases/index.js';
import { findOracle, isServerFailure, type OracleName, usualOracle, wentAway } from '../check/index.js';
import { type Contract, noContractFor } from '../contracts/index.js';
import { type Behaviour, signatureOf, triggerOf, variantOf } from '../dedupe/index.js';
import { IsoldeError } from '../errors.js';
import { contractAt, type Observed, type RunRequest, usualChoice } from '../judge/index.js';
import type { Target } from '../targets/index.js';
import { isNamed, type KnownCase, showsBug } from './known-case.js';
import type { KnownBug } from './repository.js';
import { unmetSetting } from './storage.js';

/**
 * Runs and judges in a scratch of its own; what goes wrong with the database is an answer, not an error. `again`: whoever keeps
 * answers runs it once more.
 */
export type ObserveKnown = (request: RunRequest, again?: 'again') => Promise<Observed>;

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

/** Cause and trigger as one word: findings with the same one are one bug, as far as one build can tell. */
export function keyOfFinding({ signature, trigger }: KnownFinding): string {
  return `${signature} ${trigger}`;
}

/** The key of a finding, however it was found: whether it takes concurrency is another question. */
export function findingKey({ notIsolation: _, ...behaviour }: Behaviour): string {
  return keyOfFinding(describeFinding(behaviour));
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
  /** The finding asked about shows with its sessions one after another, and is described so: what it is compared with must be, too. */
  readonly notIsolation?: true | undefined;
}

const notRun = (why: string): KnownRun => ({ outcome: 'not-run', why, findings: [] });

/** `by`: who judges; default the usual oracle, by what a hunt would hold the database to. */
export async function runKnown(
  known: KnownBug,
  place: { readonly target: Target; readonly observe: ObserveKnown },
  by: JudgeBy = { oracle: usualOracle().name },
): Promise<KnownRun> {
  if (known.case === undefined) return notRun('it has no executable case');
  const { case: program, schedule } = known.case;
  const unmet = unmetSetting(known, place.target.stamp);
  if (unmet !== undefined) return notRun(`it needs ${unmet}`);
  const request = requestOf(known.case, place.target, by);
  if ('why' in request) return notRun(request.why);
  const observed = await place.observe(request);
  if (observed.kind === 'bad-setup') return notRun(`its set-up fails: ${observed.message.split('\n')[0]}`);
  if (observed.kind === 'cut') return notRun('the database went away, or the run was stopped');
  const { history, findings } = observed;
  // A crash is compared with a crash; for anything else it tells nothing, unless it is what the case names.
  if (!isServerFailure(by) && wentAway(history) && !isNamed(known.case, 'crash')) {
    const last = history.operations.findLast(({ error }) => error !== undefined);
    return notRun(`its case makes the server go away: ${last?.error?.message.split('\n')[0] ?? ''}`);
  }
  const behaviours = findings.map(
    (finding): Behaviour => ({ case: program, schedule, finding, history, notIsolation: by.notIsolation }),
  );
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

/** How the case of a known bug is run and judged on a database, or why it cannot be. */
export function requestOf(
  { case: program, schedule }: KnownCase,
  target: Target,
  by: JudgeBy,
): (RunRequest & Required<ScheduledCase>) | { readonly why: string } {
  if (program.dialect !== undefined && program.dialect !== target.dialect)
    return { why: `its SQL is written for ${program.dialect}, ${target.name} speaks ${target.dialect}` };
  const level = program.level ?? target.defaultLevel;
  if (!target.levels.some((offered) => offered.level === level))
    return { why: `${target.name} has no level ${level}` };
  const contract = by.contract?.level === undefined || by.contract.level === level ? by.contract : undefined;
  const held = contract ?? contractOf(target, level);
  if (held === undefined) return { why: noContractFor(target.name, level, target.stamp.settings) };
  const refused = findOracle(by.oracle)?.refuses?.(held);
  if (refused !== undefined) return { why: `the oracle ${by.oracle} cannot judge it: ${refused}` };
  return { case: program, schedule, level, oracle: by.oracle, contract: held };
}

function contractOf(target: Target, level: NonNullable<RunRequest['level']>): Contract | undefined {
  try {
    return contractAt(usualChoice, target, level);
  } catch (error) {
    if (error instanceof IsoldeError) return undefined;
    throw error;
  }
}
