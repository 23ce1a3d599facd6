/**
 * The four experts as one panel: asks them, counts and caches what they answer, and writes it all down.
 *
 * Answers are cached by content: the same model asked the same question for the same vote has answered already, and a second run
 * of a decision costs nothing. Opinions that cannot be read count as none; the panel goes on with the others.
 */
import { createHash } from 'node:crypto';
import { IsoldeError } from '../errors.js';
import type { Endpoint, Message, Reply } from './endpoint.js';
import { type Expertise, type ExpertName, expertNames } from './mechanisms.js';
import { type Choice, type Opinion, readOpinion } from './opinion.js';
import { type Manner, messagesFor, type Question } from './prompts.js';

/** Answers by the hash of what was asked; what it gives is hostile text, as an endpoint’s. */
export interface AnswerCache {
  get(key: string): Promise<string | undefined>;
  set(key: string, text: string): Promise<void>;
}

export interface Counts {
  /** Questions sent to the endpoint; a question that had to be sent again counts once. */
  calls: number;
  /** Requests sent again. */
  retries: number;
  /** Questions whose answer was kept from before. */
  cached: number;
  /** Answers that could not be read, or were cut off. */
  unreadable: number;
  promptTokens: number;
  answerTokens: number;
}

export const noCounts = (): Counts => ({
  ...{ calls: 0, retries: 0, cached: 0, unreadable: 0, promptTokens: 0, answerTokens: 0 },
});

/** One question to one expert, as the transcript keeps it. */
export interface Asked {
  readonly about: string;
  readonly vote: number;
  readonly manner: Manner['kind'];
  readonly round: number;
  readonly expert: ExpertName;
  readonly key: string;
  readonly cached: boolean;
  readonly answer: string;
  readonly opinion?: Opinion;
}

/** No more questions may be asked. */
export class OutOfCalls extends IsoldeError {
  constructor(most: number) {
    super('usage', `the experts would have to be asked more than ${most} times (--max-calls)`);
  }
}

export interface PanelOptions {
  readonly endpoint: Endpoint;
  readonly expertise: readonly Expertise[];
  readonly maxCalls: number;
  readonly cache?: AnswerCache;
  readonly onAsked?: (asked: Asked) => void;
}

/** Which question this is, for the transcript and the cache. */
export interface Occasion {
  readonly about: string;
  readonly vote: number;
  readonly round: number;
  readonly choices: readonly Choice[];
}

export class Panel {
  readonly counts = noCounts();

  constructor(private readonly options: PanelOptions) {}

  get callsLeft(): number {
    return this.options.maxCalls - this.counts.calls;
  }

  /** The opinions of all experts that gave one. */
  async ask(
    question: Question,
    manner: Manner,
    occasion: Occasion,
  ): Promise<ReadonlyMap<ExpertName, Opinion>> {
    // Simultaneous talk: nobody hears the others before the next round.
    const told = await Promise.allSettled(
      this.options.expertise.map((expertise) => this.#one(expertise, question, manner, occasion)),
    );
    const opinions = new Map<ExpertName, Opinion>();
    for (const each of told) {
      if (each.status === 'rejected') throw each.reason;
      const asked = each.value;
      this.options.onAsked?.(asked);
      if (asked.opinion !== undefined) opinions.set(asked.expert, asked.opinion);
    }
    return opinions;
  }

  async #one(
    expertise: Expertise,
    question: Question,
    manner: Manner,
    { about, vote, round, choices }: Occasion,
  ): Promise<Asked> {
    const { endpoint, cache } = this.options;
    const messages = messagesFor(expertise, question, manner);
    const key = createHash('sha256')
      .update(JSON.stringify([endpoint.model, vote, messages]))
      .digest('hex');
    const kept = await cache?.get(key);
    const reply = kept === undefined ? await this.#send(messages) : undefined;
    const answer = kept ?? reply!.text;
    if (kept !== undefined) this.counts.cached++;
    const opinion = reply?.cut === true ? undefined : readOpinion(answer, choices);
    if (opinion === undefined) this.counts.unreadable++;
    else if (reply !== undefined) await cache?.set(key, answer);
    return {
      ...{ about, vote, manner: manner.kind, round, expert: expertise.name, key },
      ...{ cached: kept !== undefined, answer, ...(opinion !== undefined && { opinion }) },
    };
  }

  async #send(messages: readonly Message[]): Promise<Reply> {
    const { endpoint, maxCalls } = this.options;
    if (this.counts.calls >= maxCalls) throw new OutOfCalls(maxCalls);
    // Counted before it is sent: what fails on the way may have cost something, too.
    this.counts.calls++;
    const reply = await endpoint.ask(messages);
    this.counts.retries += reply.requests - 1;
    this.counts.promptTokens += reply.promptTokens;
    this.counts.answerTokens += reply.answerTokens;
    return reply;
  }
}

export const expertCount = expertNames.length;
