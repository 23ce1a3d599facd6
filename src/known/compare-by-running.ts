/**
 * A bug and reports whose cases show on its very database, compared by running both: on other builds (`witness.ts`), and with reads added
 * (`runnable.ts`). What signatures said of them stands where neither tells.
 */

import { findOracle, isServerFailure, type OracleName, oraclesFor, usualOracle } from '../check/index.js';
import { sameAnswers } from '../dedupe/index.js';
import type { Observed } from '../judge/index.js';
import type { AskedBug, BuildsFor, Candidate, CaseNames } from './candidate.js';
import { type KnownCase, showsBug } from './known-case.js';
import { isAffected } from './report-versions.js';
import type { KnownBug } from './repository.js';
import { findingKey, type JudgeBy, requestOf } from './run-known.js';
import { type Build, type KnownPlace, keysOf, keysWithReads, type Runnable, seenOn } from './runnable.js';
import { compareWitnesses, differingSettings, type Sighting, type WitnessCell } from './witness.js';

function showsHere({ run }: Candidate): boolean {
  return run?.outcome === 'shows' || (run?.outcome === 'ran' && run.findings.length > 0);
}

const names = ['this bug', 'the report’s case'] as const;

export class RunComparison {
  private readonly by: JudgeBy;
  private readonly place: KnownPlace;
  private readonly cases: CaseNames;
  readonly #bug: Runnable;
  readonly #key: string;
  /** How the bug behaves elsewhere, for all reports. */
  readonly #onBuilds = new Map<Build['observe'], Promise<Sighting>>();
  #keys: Promise<ReadonlySet<string>> | undefined;

  constructor(
    private readonly asked: AskedBug,
    {
      by,
      place,
      names: cases,
    }: { readonly by: JudgeBy; readonly place: KnownPlace; readonly names: CaseNames },
  ) {
    this.by = by;
    this.place = place;
    this.cases = cases;
    const { behaviour, level } = asked;
    const { case: program, schedule } = behaviour;
    const { contract } = by;
    // What judges any run judges beside the usual oracle, which sees more of what the changes of a case do.
    const rides = findOracle(by.oracle)?.needs.run === 'any' && !isServerFailure(by);
    const oracle = rides ? usualOracle(contract).name : by.oracle;
    this.#bug = {
      request: { case: program, schedule, level, oracle, ...(contract !== undefined && { contract }) },
      shows: (observed) =>
        observed.kind === 'ran'
          ? observed.findings.length > 0 && sameAnswers(behaviour, observed.history)
          : undefined,
    };
    this.#key = findingKey(behaviour);
  }

  /** What other builds make of a candidate; undefined: what signatures said. */
  async onBuilds(first: Candidate, report: KnownBug, builds: BuildsFor): Promise<Candidate | undefined> {
    const { match } = first;
    const alike = match === 'same-form' || match === 'same-cause';
    if (!showsHere(first) && !alike && match !== 'other-trigger') return undefined;
    const others = await builds(report);
    const filed = others.filter((build) => this.#isFiled(report, build));
    const other = await this.#runnableOf(report, [...filed, this.place]);
    if (other === undefined) return undefined;
    const cells = await this.#cellsOf(report, other, others);
    const { verdict, why } = compareWitnesses(cells, { alike, names });
    if (verdict === 'two') return { ...first, match: 'different', ruledOut: true, why };
    if (verdict === 'undecided') return undefined;
    const confirmed = { ...first, confirmed: true } as const;
    return alike
      ? { ...confirmed, why: `${first.why}; ${why}` }
      : { ...confirmed, match: 'same-builds', why };
  }

  async #cellsOf(report: KnownBug, other: Runnable, builds: readonly Build[]): Promise<WitnessCell[]> {
    const here = { shows: true };
    const cells: WitnessCell[] = [
      { name: 'the bug’s own build', build: this.asked.target, one: here, other: here },
    ];
    for (const build of builds) {
      let bug = this.#onBuilds.get(build.observe);
      if (bug === undefined) {
        bug = seenOn(this.#bug, this.place, build);
        this.#onBuilds.set(build.observe, bug);
      }
      const { name, stamp = build.target.stamp } = build;
      const cell = {
        name,
        build: stamp,
        filed: this.#isFiled(report, build),
        one: await bug,
        other: await seenOn(other, this.place, build),
      };
      cells.push(cell);
      // One that differs is enough.
      if (compareWitnesses([cell], { alike: false }).verdict === 'two') break;
    }
    return cells;
  }

  /** A report says a version; its settings are taken for those of the bug. */
  #isFiled(report: KnownBug, { target, stamp = target.stamp }: Build): boolean {
    return differingSettings(stamp, this.asked.target).length === 0 && isAffected(report, stamp.version);
  }

  /** Whether the one case, with reads added, shows what the other shows. */
  async withReads(first: Candidate, report: KnownBug): Promise<Candidate | undefined> {
    const other = await this.#runnableOf(report, [this.place]);
    if (other === undefined || first.ruledOut === true || !showsHere(first)) return undefined;
    // What kills a server is compared as a whole.
    if (isServerFailure(this.by)) return undefined;
    const { asked, report: theirs } = this.cases;
    const same = (whose: string, sees: string): Candidate => ({
      ...{ ...first, match: 'same-with-reads' },
      why: `${whose}, with reads added, shows here what ${sees} shows`,
    });
    const shown = keysOf(other.request, await this.place.observe(other.request));
    this.#keys ??= keysWithReads(this.#bug, this.place);
    const own = await this.#keys;
    if (shown.some((key) => own.has(key))) return same(asked, theirs);
    const added = await keysWithReads(other, this.place);
    return added.has(this.#key) ? same(theirs, asked) : undefined;
  }

  /**
   * The case of a report, judged by the first oracle that finds something wrong with it: where it was filed, if that build is here, because the bug’s own build may break it
   * for another reason. Who found the bug need not see what the report is about.
   */
  async #runnableOf({ case: found }: KnownBug, places: readonly KnownPlace[]): Promise<Runnable | undefined> {
    if (found === undefined) return undefined;
    const runnables = this.#judges().flatMap((oracle): Runnable[] => {
      const request = requestOf(found, this.place.target, { ...this.by, oracle });
      if ('why' in request) return [];
      return [{ request, shows: (observed) => showsCase(found, observed) }];
    });
    for (const { observe } of places)
      for (const runnable of runnables)
        if (runnable.shows(await observe(runnable.request)) === true) return runnable;
    return runnables[0];
  }

  /** The bug’s own oracle comes first, unless it judges whatever another one ran, or sees versions that a report does not tell. */
  #judges(): OracleName[] {
    const { oracle, contract } = this.by;
    const own = findOracle(oracle);
    if (isServerFailure(this.by)) return [oracle];
    const isFirst = own !== undefined && own.needs.run !== 'any' && own.tracesVersions !== true;
    const others = contract === undefined ? [usualOracle()] : oraclesFor(contract);
    const named = others.filter(({ onlyIfNamed }) => onlyIfNamed !== true).map(({ name }) => name);
    return [...new Set([...(isFirst ? [oracle] : []), ...named, oracle])];
  }
}

/** Whether a run of a report’s case shows what the report calls wrong. Its lines may hold where nothing is wrong: they need not say all. */
function showsCase(found: KnownCase, observed: Observed): boolean | undefined {
  if (observed.kind !== 'ran') return undefined;
  const isWrong = observed.findings.length > 0;
  const { shows } = showsBug(found, observed.history);
  if (shows !== 'unknown') return shows && isWrong;
  return found.wrong.length === 0 ? isWrong : undefined;
}
