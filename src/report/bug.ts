/**
 * A bug as plain data: everything a person needs to believe it, run it and file it. Reports, exports and the store are
 * made from it and add nothing.
 */
import { createHash } from 'node:crypto';
import type { Case, Schedule } from '../cases/index.js';
import type { Finding } from '../check/index.js';
import {
  type ContractSource,
  fieldOfClause,
  findContract,
  type Level,
  shortLevel,
} from '../contracts/index.js';
import {
  type Behaviour,
  describeBehaviour,
  headlineOf,
  nameOf,
  signatureOf,
  variantOf,
} from '../dedupe/index.js';
import { IsoldeError } from '../errors.js';
import type { History, TargetStamp } from '../histories/index.js';
import type { KnownVerdict } from '../known/index.js';
import { nameEngine } from './names.js';

export interface Bug extends Behaviour {
  /** Follows from the engine and the signature: `duckdb-missed-conflict-3f9a2c41`. */
  readonly id: string;
  readonly title: string;
  /** The database of the confirming run. */
  readonly target: TargetStamp;
  readonly level: Level;
  /** Whose promise is broken, and which one. */
  readonly contract?: string;
  readonly clause: string;
  /** Where that promise is written down. */
  readonly sources: readonly ContractSource[];
  /** The minimal case and its order. */
  readonly case: Case;
  readonly schedule: Schedule;
  readonly finding: Finding;
  /** A run that confirmed it; the finding's numbers are this history's. */
  readonly history: History;
  readonly signature: string;
  /** What the signature and the variant of this case are made from. */
  readonly behaviour: string;
  /** The forms it was found in, this case's first. Counts add up to `count`; bugs kept by older releases lack them. */
  readonly variants?: readonly BugVariant[];
  /** Whether others have reported it; absent: nobody asked. */
  readonly known?: KnownVerdict;
  readonly reproduced: Reproduced;
  /** Who else was asked, and what they said. */
  readonly secondLook?: readonly SecondLook[];
  /** Other releases and settings it was tried on. */
  readonly versions: readonly VersionTried[];
  readonly seed?: string;
  /** The line that shows it again. */
  readonly replay: string;
  /** Where Isolde ran: system, processor, Node. */
  readonly environment?: string;
  /** The history it was found in, before reduction. */
  readonly raw?: RawSize;
  /** How many raw findings were this bug. */
  readonly count: number;
  /** ISO 8601, UTC. */
  readonly firstSeen: string;
  readonly lastSeen: string;
}

export interface BugVariant {
  /** `variantOf` its case. */
  readonly variant: string;
  /** The kind of its finding. */
  readonly kind: string;
  readonly count: number;
}

/** Who says that no run without added SQL shows a bug. */
export const plainRun = 'plain run';

/** What an independent way of looking at a finding says (`hunt/second-look.ts`). */
export interface SecondLook {
  /** `serial control`, `plain run`, or the name of an oracle. */
  readonly by: string;
  readonly says: 'agrees' | 'not isolation' | 'undecided';
  readonly note: string;
}

export interface Reproduced {
  readonly shown: number;
  readonly runs: number;
}

export type RerunOutcome = 'alive' | 'fixed' | 'changed' | 'not-run';

export interface VersionTried extends Reproduced {
  readonly target: TargetStamp;
  readonly outcome: RerunOutcome;
  readonly at: string;
}

export interface RawSize {
  readonly sessions: number;
  readonly transactions: number;
  readonly operations: number;
}

/** What a hunt knows; the rest follows. */
export interface NewBug extends Behaviour {
  readonly reproduced: Reproduced;
  /** Now, ISO 8601. */
  readonly at: string;
  readonly versions?: readonly VersionTried[];
  readonly seed?: string | undefined;
  readonly replay?: string | undefined;
  readonly environment?: string | undefined;
  readonly raw?: RawSize | undefined;
  readonly count?: number;
  readonly variants?: readonly BugVariant[] | undefined;
  readonly secondLook?: readonly SecondLook[] | undefined;
  readonly known?: KnownVerdict | undefined;
}

export function makeBug(found: NewBug): Bug {
  const { finding, history, at } = found;
  const { target, level } = history.header;
  if (target === undefined || level === undefined) {
    throw new IsoldeError('usage', 'the history of a bug must say on which target and at which level it ran');
  }
  const signature = signatureOf(found);
  const name = nameOf(found);
  // Its signature does not tell by which finding it was seen, so its name must not either.
  const id = bugId(target, found.notIsolation === true ? 'not-isolation' : name, signature);
  const count = found.count ?? 1;
  const seed = found.seed ?? history.header.seed;
  return {
    id,
    title: `${placeOf(target)}, ${shortLevel(level)}: ${headlineOf(found)}`,
    target,
    level,
    ...(finding.contract === undefined ? {} : { contract: finding.contract }),
    clause: finding.clause ?? finding.kind,
    sources: sourcesOf(finding),
    case: found.case,
    schedule: found.schedule,
    finding,
    history,
    signature,
    behaviour: describeBehaviour(found),
    variants: found.variants ?? [{ variant: variantOf(found), kind: finding.kind, count }],
    ...(found.known === undefined ? {} : { known: found.known }),
    reproduced: found.reproduced,
    ...(found.secondLook && { secondLook: found.secondLook }),
    ...(found.notIsolation && { notIsolation: true }),
    versions: found.versions ?? [],
    ...(seed === undefined ? {} : { seed }),
    replay: found.replay ?? `npx isolde bugs rerun ${id}`,
    ...(found.environment === undefined ? {} : { environment: found.environment }),
    ...(found.raw === undefined ? {} : { raw: found.raw }),
    count,
    firstSeen: at,
    lastSeen: at,
  };
}

/** Engine and version; a fault that Isolde itself injected comes before anything else. */
function placeOf({ name, version, settings }: TargetStamp): string {
  const fault = settings?.fault === undefined ? '' : ` with injected fault ${settings.fault}`;
  return `${nameEngine(name)} ${version}${fault}`;
}

/** The size of a history, as reports state it. */
export function sizeOfHistory({ header, operations }: History): RawSize {
  return {
    sessions: header.sessions.length,
    transactions: new Set(operations.map(({ transaction }) => transaction)).size,
    operations: operations.length,
  };
}

/** One engine's bugs group by signature; an engine with an injected fault is another engine. */
function bugId(target: TargetStamp, name: string, signature: string): string {
  const engine = JSON.stringify([target.name, target.settings?.fault ?? null, signature]);
  const hash = createHash('sha256').update(engine).digest('hex').slice(0, 8);
  const words = `${target.name}-${name}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `${words.replaceAll(/^-+|-+$/g, '').slice(0, 60)}-${hash}`;
}

function sourcesOf({ contract, clause }: Finding): readonly ContractSource[] {
  const sources = contract === undefined ? [] : (findContract(contract)?.sources ?? []);
  const field = clause === undefined ? undefined : fieldOfClause(clause);
  const fitting = sources.filter((source) => source.clause === field);
  return fitting.length > 0 ? fitting : sources;
}
