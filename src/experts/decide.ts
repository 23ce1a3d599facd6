/**
 * Experts decide what running has left open (Pisco §6.2.2): in knock-out rounds pairs of candidates are compared, the one less like the
 * case is out, and of the last one they say whether it is the same bug.
 *
 * What running has decided is not asked again: a candidate whose case behaves otherwise on this very database is out, and one that shows
 * the same cause needs no judge.
 */
import { IsoldeError } from '../errors.js';
import { Random } from '../generate/index.js';
import {
  candidateCount,
  type KnownAnswer,
  type KnownBug,
  type KnownVerdict,
  type Repository,
} from '../known/index.js';
import { type Bug, mechanismOf } from '../report/index.js';
import { counted } from '../words.js';
import { type Compared, type ComparisonOptions, compare } from './comparison.js';
import type { Endpoint } from './endpoint.js';
import { sectionsOfBug, sectionsOfReport } from './material.js';
import { expertiseFor } from './mechanisms.js';
import { type AnswerCache, type Asked, type Counts, expertCount, Panel } from './panel.js';
import type { Question } from './prompts.js';
import { type Voted, vote } from './vote.js';

export interface ExpertOptions {
  readonly endpoint: Endpoint;
  /** Comparisons of one pair; default 5, as in the paper. */
  readonly votes?: number;
  /** Rounds of discussion; default 3. */
  readonly rounds?: number;
  /** For 16 candidates; fewer get their share. Default 234, the paper’s mean. */
  readonly maxCalls?: number;
  /** Of the order in which things are asked. */
  readonly seed?: string;
  readonly cache?: AnswerCache;
  readonly onAsked?: (asked: Asked) => void;
}

/** Calls that were not needed, by why. */
export interface Savings {
  /** Reports that the features put behind the first 16. */
  readonly filter: number;
  /** Candidates that running decided. */
  readonly running: number;
  /** Comparisons that could not change a vote any more. */
  readonly majority: number;
  /** Answers kept from before. */
  readonly cache: number;
}

export interface ExpertVerdict extends KnownVerdict {
  readonly counts: Counts;
  readonly savings: Savings;
  /** Comparisons by what settled them. */
  readonly settledBy: Readonly<Record<string, number>>;
}

export const usualVotes = 5;
export const usualRounds = 3;
export const usualMaxCalls = 234;

/** What is left open by an answer: candidates that could not be run, or that show the same by another trigger. */
export function openReports(answer: KnownAnswer, repository: Repository): KnownBug[] {
  if (answer.verdict === 'duplicate') return [];
  const byId = new Map(repository.bugs.map((bug) => [bug.id, bug]));
  return answer.candidates
    .filter(({ match }) => match === 'other-trigger' || match === 'no-case' || match === 'not-run')
    .slice(0, candidateCount)
    .flatMap(({ id }) => byId.get(id) ?? []);
}

export async function decideByExperts(
  bug: Pick<Bug, 'case' | 'history' | 'contract' | 'target' | 'level'>,
  answer: KnownAnswer,
  repository: Repository,
  options: ExpertOptions,
): Promise<ExpertVerdict> {
  const {
    endpoint,
    votes = usualVotes,
    rounds = usualRounds,
    maxCalls = usualMaxCalls,
    cache,
    onAsked,
  } = options;
  const open = openReports(answer, repository);
  const panel = new Panel({
    endpoint,
    expertise: expertiseFor(mechanismOf(bug)),
    maxCalls: shareOf(maxCalls, open.length),
    ...(cache !== undefined && { cache }),
    ...(onAsked !== undefined && { onAsked }),
  });
  const decision = new Decision(sectionsOfBug(bug), votes, {
    ...{ panel, rounds, random: new Random(options.seed ?? 'experts') },
  });
  const finish = (verdict: KnownVerdict): ExpertVerdict => ({
    ...verdict,
    counts: panel.counts,
    savings: savingsOf(answer, repository, { open: open.length, votes, decision, panel }),
    settledBy: Object.fromEntries(decision.settledBy),
  });
  const { verdict, reports, why } = answer;
  if (open.length === 0) return finish({ verdict, reports, why: `${why}; nothing was left for the experts` });
  try {
    const winner = await decision.knockOut(open);
    const same = await decision.judge(winner);
    return finish(verdictOf(winner, same, answer, panel.counts));
  } catch (error) {
    if (!(error instanceof IsoldeError)) throw error;
    return finish({ verdict, reports, why: `${why}; the experts could not decide: ${error.message}` });
  }
}

function verdictOf(winner: KnownBug, same: Voted, answer: KnownAnswer, { calls }: Counts): KnownVerdict {
  const { id, name, url } = winner;
  const asked = `${counted(calls, 'call')} to a model`;
  const reference = (why: string) => ({ id, name, ...(url !== undefined && { url }), why });
  switch (same.choice) {
    case 'same':
      return {
        verdict: 'duplicate',
        reports: [reference('four experts on a model take it for the same bug; it was not run')],
        why: `judged by experts, not by running; ${asked}`,
      };
    case 'different':
      return {
        verdict: 'unique',
        reports: [],
        why: `${answer.why}; the experts take the nearest open report, ${name}, for another bug; ${asked}`,
      };
    default:
      return {
        verdict: 'undecided',
        reports: [reference('the experts could not agree about it')],
        why: `${answer.why}; ${asked}`,
      };
  }
}

class Decision {
  readonly settledBy = new Map<Compared['settledBy'], number>();
  comparisons = 0;
  pairs = 0;
  #questionsLeft = 1;

  constructor(
    private readonly bug: ReturnType<typeof sectionsOfBug>,
    private readonly votes: number,
    private readonly options: ComparisonOptions,
  ) {}

  /** The report that is left when all others have lost a comparison. */
  async knockOut(reports: readonly KnownBug[]): Promise<KnownBug> {
    // Every pair removes one report; the last question is whether the last report is the bug.
    this.#questionsLeft = reports.length;
    let left = [...reports];
    while (left.length > 1) {
      const shuffled = this.options.random.shuffle(left);
      const winners: KnownBug[] = [];
      for (let i = 0; i < shuffled.length; i += 2) {
        const [a, b] = [shuffled[i]!, shuffled[i + 1]];
        if (b === undefined) {
          winners.push(a);
          continue;
        }
        const question = {
          kind: 'pair',
          bug: this.bug,
          A: sectionsOfReport(a),
          B: sectionsOfReport(b),
        } as const;
        const { choice } = await this.#vote(`${a.id} or ${b.id}`, question);
        // Undecided between two: the one that the features put first stays.
        const nearer = reports.indexOf(a) < reports.indexOf(b) ? a : b;
        winners.push(choice === undefined ? nearer : choice === 'A' ? a : b);
      }
      left = winners;
    }
    return left[0]!;
  }

  /**
   * How often all experts can be asked about the next question: what is left is shared by those still to come. The last one decides what is reported,
   * and comparisons that are clear leave more for it.
   */
  #affordable(): number {
    const steps = Math.floor(this.options.panel.callsLeft / expertCount);
    return Math.max(1, Math.floor(steps / this.#questionsLeft));
  }

  judge(report: KnownBug): Promise<Voted> {
    const question = { kind: 'same', bug: this.bug, report: sectionsOfReport(report) } as const;
    return this.#vote(`same as ${report.id}`, question);
  }

  async #vote(about: string, question: Question): Promise<Voted> {
    const voted = await vote(
      this.votes,
      (number, steps) => compare(question, { about, vote: number, steps }, this.options),
      this.#affordable(),
    );
    this.#questionsLeft--;
    this.pairs++;
    this.comparisons += voted.votes;
    for (const how of voted.settledBy) this.settledBy.set(how, (this.settledBy.get(how) ?? 0) + 1);
    return voted;
  }
}

/** The limit is for as many candidates as in the paper: fewer get their share of it. */
function shareOf(maxCalls: number, open: number): number {
  return Math.min(maxCalls, Math.floor((maxCalls * open) / candidateCount));
}

/** Beside a decision without the stage: each report costs k comparisons by four experts, more where they disagree. */
function savingsOf(
  answer: KnownAnswer,
  repository: Repository,
  { open, votes, decision, panel }: { open: number; votes: number; decision: Decision; panel: Panel },
): Savings {
  const perReport = votes * expertCount;
  return {
    filter: (repository.bugs.length - answer.candidates.length) * perReport,
    running: (answer.candidates.length - open) * perReport,
    majority: (decision.pairs * votes - decision.comparisons) * expertCount,
    cache: panel.counts.cached,
  };
}
