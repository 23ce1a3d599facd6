/**
 * A bug as something that can be run on builds of an engine, with changes of its case.
 *
 * - **Experiments** (`dedupe/experiments.ts`) on two builds that both show it: if some change of the case gets other answers on the one build than
 *   on the other, and they are wrong on one of them, then what breaks the case here is not what breaks it there. Answers that differ are asked
 *   for a second time, and must be the same again on each build: chance is no proof.
 * - **Added reads.** On one build: what else shows if the case reads more, or leaves out a form such as RETURNING. The rest happens as before, so what shows
 *   then is another view of the same bug, as far as signatures go. Changes of what happens do not count here: they may lead to another bug.
 */
import type { ScheduledCase } from '../cases/index.js';
import { answerKey, experimentsOf } from '../dedupe/index.js';
import type { TargetStamp } from '../histories/index.js';
import type { Observed, RunRequest } from '../judge/index.js';
import type { Target } from '../targets/index.js';
import { findingKey, type ObserveKnown } from './run-known.js';
import type { Sighting } from './witness.js';

/** A database, and how cases are run there. */
export interface KnownPlace {
  readonly target: Target;
  readonly observe: ObserveKnown;
}

/** Another build: a version, a setting. */
export interface Build extends KnownPlace {
  readonly name: string;
  /** What it is, where the target’s own stamp does not say. */
  readonly stamp?: TargetStamp;
}

export interface Runnable {
  readonly request: RunRequest & Required<ScheduledCase>;
  /** Whether a run shows it; undefined: the run does not tell. */
  readonly shows: (observed: Observed) => boolean | undefined;
}

/** Runs a case on a build, and where it shows, all its changes there and here. */
export async function seenOn(bug: Runnable, here: KnownPlace, there: Build): Promise<Sighting> {
  const shows = bug.shows(await there.observe(bug.request));
  if (shows !== true) return { shows };
  const otherwise = await differingExperiment(bug, here, there);
  return otherwise === undefined ? { shows } : { shows, otherwise };
}

/** The first change of a case that is answered otherwise on one of the two builds, and wrongly on one; undefined: none is. */
async function differingExperiment(
  { request }: Runnable,
  here: KnownPlace,
  there: Build,
): Promise<string | undefined> {
  for (const { name, case: program, schedule } of experimentsOf(request, here.target.dialect)) {
    const asked = { ...request, case: program, schedule };
    const first = [await here.observe(asked), await there.observe(asked)] as const;
    if (!differ(...first)) continue;
    const second = [await here.observe(asked, 'again'), await there.observe(asked, 'again')] as const;
    const isSteady = first.every((observed, i) => answersOf(observed) === answersOf(second[i]!));
    if (isSteady && differ(...second)) return name;
  }
  return undefined;
}

/** Whether two runs of one case were answered otherwise, and one of them wrongly. */
function differ(one: Observed, other: Observed): boolean {
  if (one.kind !== 'ran' || other.kind !== 'ran') return false;
  if (one.findings.length === 0 && other.findings.length === 0) return false;
  return answersOf(one) !== answersOf(other);
}

/** What every statement was answered, and whether it had to wait: a lock that is not held shows in nothing else. */
function answersOf(observed: Observed): string {
  if (observed.kind !== 'ran') return observed.kind;
  return observed.history.operations
    .flatMap((operation) =>
      operation.statement === undefined
        ? []
        : [`${operation.statement.join(',')} ${operation.blocked === true} ${answerKey(operation)}`],
    )
    .sort()
    .join('\n');
}

/** Runs for one case, in hunts as well. */
const mostReadings = 12;

/** The keys of what a case shows, itself and with reads added. */
export async function keysWithReads(
  { request }: Runnable,
  { target, observe }: KnownPlace,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const closer = experimentsOf(request, target.dialect).filter(({ looks }) => looks);
  for (const { case: program, schedule } of [request, ...closer.slice(0, mostReadings)]) {
    const observed = await observe({ ...request, case: program, schedule });
    for (const key of keysOf({ case: program, schedule }, observed)) found.add(key);
  }
  return found;
}

/** The keys of what a run of a case shows. */
export function keysOf({ case: program, schedule }: Required<ScheduledCase>, observed: Observed): string[] {
  if (observed.kind !== 'ran') return [];
  const { history, findings } = observed;
  return findings.map((finding) => findingKey({ case: program, schedule, finding, history }));
}
