/**
 * Decides a history that may have been one of several: transactions of unknown outcome committed or not, where others wrote what they wrote too;
 * an element that was appended more than once is the one append or the other. One alternative that keeps the level is enough.
 *
 * Alternatives are answers to questions. First the history is checked without what depends on them: what is broken then is broken. Then
 * one alternative after the other is checked as a history of its own. If it is broken, the few transactions that break it name the answers
 * that are impossible together, and the next alternative avoids them. If none is left, the level is broken.
 */
import type { KvHistory } from '../../histories/index.js';
import type { Finding } from '../finding.js';
import { mildnessOf } from '../graph/name-cycle.js';
import { implies } from '../levels.js';
import { type Choice, ChoiceSearch } from './choice-search.js';
import { sameQuestion } from './decide.js';
import type { Effort } from './effort.js';
import type { CheckResult } from './kv-result.js';
import { Levels } from './level-states.js';

export interface Alternatives {
  /** What is open, for people: `whether 2 transactions committed, which wrote what others wrote too`. */
  readonly open: string;
  /** What is certain: the history without what depends on the answers. */
  readonly certain: KvHistory;
  /** The answers that each question may have, the likeliest first; none: there are too many. */
  readonly answers: readonly (readonly number[])[];
  /** The history under these answers. */
  readonly history: (answers: readonly number[]) => KvHistory;
  /** Does what these transactions did and read depend on the answer to a question? */
  readonly concerns: (question: number, txs: ReadonlySet<number>) => boolean;
  /** Why something else than these answers may be true; absent: they are all there are. */
  readonly incomplete?: string;
}

export interface AlternativeChecks {
  readonly check: (history: KvHistory) => CheckResult;
  /** A few transactions that break a history by themselves, if they are found. */
  readonly core: (history: KvHistory, findings: readonly Finding[]) => readonly number[] | undefined;
  readonly effort: Effort;
}

/** The result of an alternative that decides; `valid` is `unknown` where time or an alternative left it open. */
export function checkAlternatives(
  { open, certain, answers, history, concerns, incomplete }: Alternatives,
  { check, core, effort }: AlternativeChecks,
): CheckResult {
  const without = check(certain);
  if (without.valid === false) return without;
  const search = new ChoiceSearch(answers);
  let undecided: CheckResult | undefined;
  let mildest: CheckResult | undefined;
  for (let attempt = 1; ; attempt++) {
    const chosen = search.next(() => effort.spent());
    if (chosen === undefined) break;
    const alternative = history(chosen);
    const result = check(alternative);
    if (result.valid === true) return oneWay(result, without, certain);
    const all = chosen.map((answer, question): Choice => [question, answer]);
    if (result.valid === 'unknown') {
      undecided ??= result;
      search.forbid(all);
    } else {
      if (mildest === undefined || rankOf(result) > rankOf(mildest)) mildest = result;
      const few = core(alternative, result.findings);
      const txs = few === undefined ? undefined : new Set(few);
      search.forbid(txs === undefined ? all : all.filter(([question]) => concerns(question, txs)));
    }
    if (effort.spent()) break;
    effort.progress(`trying ${open}, attempt ${attempt}`);
  }
  if (undecided === undefined && mildest !== undefined && incomplete === undefined && !effort.spent()) {
    const note = `it is open ${open}; the level is broken either way`;
    return { ...eitherWay(mildest, without, certain), notes: [...mildest.notes, note] };
  }
  const last = undecided ?? mildest ?? without;
  const unknownReasons = [...(undecided?.unknownReasons ?? []), incomplete ?? `it is not known ${open}`];
  return { ...oneWay(last, without, certain), valid: 'unknown', findings: [], unknownReasons };
}

/** An alternative that keeps a level shows that it can hold; what it breaks, another may keep. */
function oneWay(result: CheckResult, without: CheckResult, { txStart }: KvHistory): CheckResult {
  const levels = Levels.reopened(result.levels, (level) => without.levels[level] === 'broken');
  return {
    ...result,
    beyond: without.beyond,
    levels: levels.all(),
    strongest: levels.strongest(txStart !== undefined),
  };
}

/** Of what an alternative breaks, only what was asked for and what is certain are broken in all of them. */
function eitherWay(result: CheckResult, without: CheckResult, { txStart }: KvHistory): CheckResult {
  const asked = sameQuestion(result.level);
  const levels = Levels.reopened(
    result.levels,
    (level) => implies(level, asked) || without.levels[level] === 'broken',
  );
  return {
    ...result,
    findings: result.findings.map((finding) => ({ ...finding, rulesOut: [asked] })),
    beyond: without.beyond,
    levels: levels.all(),
    strongest: levels.strongest(txStart !== undefined),
  };
}

const rankOf = ({ findings }: CheckResult): number =>
  findings.reduce((least, { kind }) => Math.min(least, mildnessOf(kind)), Number.POSITIVE_INFINITY);
