/** What a conformance behaviour works with: the target, a scratch shared by the suite, sessions that close themselves. */
import { expect } from 'vitest';
import type { Level } from '../../contracts/index.js';
import type { Row } from '../../sql/index.js';
import type { Answer, Scratch, Session, SessionOptions, Target } from '../target.js';

/** One promise of the target interface, as a sentence and as a check. */
export interface Behaviour {
  readonly name: string;
  /** Why the question does not arise, told from what the target itself declares. */
  readonly inapplicable?: (target: Target) => string | undefined;
  readonly run: (lab: Lab) => Promise<void>;
}

/** A connection that stands outside every scratch: a user of the same database. */
export interface Outsider {
  execute(sql: string): Promise<Answer>;
  close(): Promise<void>;
}

/** How an engine spells what its dialect spells otherwise. */
export interface Spelling {
  readonly text?: string;
  /** A table p of generated keys from 1 on, and v. */
  readonly keyed?: readonly string[];
  /** With one digit behind the second. */
  readonly time?: string;
  readonly timestamp?: string;
  readonly binary?: readonly [type: string, literal: string];
}

/** The table most behaviours use. */
export const simpleSetup: readonly string[] = [
  'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
  'INSERT INTO t VALUES (1, 10), (2, 20)',
];

/** A thousand numbers: joined with itself four times, a query that outlives every time-out. */
export const numbersSetup: readonly string[] = [
  'CREATE TABLE n (i INT)',
  `INSERT INTO n VALUES ${Array.from({ length: 1000 }, (_, i) => `(${i})`).join(', ')}`,
];
export const endlessQuery = 'SELECT count(*) FROM n a, n b, n c, n d WHERE a.i + b.i + c.i + d.i < 0';

export class Lab {
  readonly #sessions: Session[] = [];
  readonly outsider: (() => Promise<Outsider>) | undefined;
  readonly spelling: Spelling;

  constructor(
    readonly target: Target,
    readonly scratch: Scratch,
    options: {
      readonly outsider?: (() => Promise<Outsider>) | undefined;
      readonly spelling?: Spelling | undefined;
    } = {},
  ) {
    this.outsider = options.outsider;
    this.spelling = options.spelling ?? {};
  }

  /** What opens a transaction at a level, the default one if none is said: executors spell a plain BEGIN so. */
  begin(level: Level = this.target.defaultLevel): string {
    return this.target.levels.find((entry) => entry.level === level)!.begin;
  }

  async session(options: Partial<SessionOptions> = {}): Promise<Session> {
    const session = await this.scratch.openSession({
      level: this.target.defaultLevel,
      statementTimeoutMs: 20_000,
      lockTimeoutMs: 10_000,
      ...options,
    });
    this.#sessions.push(session);
    return session;
  }

  async closeSessions(): Promise<void> {
    await Promise.all(this.#sessions.splice(0).map((session) => session.close()));
  }
}

/** The answer of a statement that must work. */
export async function ok(session: Pick<Session, 'execute'>, sql: string): Promise<Answer> {
  const answer = await session.execute(sql);
  expect(answer.error, `${sql} should work`).toBeUndefined();
  return answer;
}

/** The rows of a query, sorted: engines return them in any order. */
export async function rowsOf(session: Pick<Session, 'execute'>, sql: string): Promise<Row[]> {
  const { rows } = await ok(session, sql);
  return [...(rows ?? [])].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** A promise that must settle in time; what it waited for is in the message. */
export async function within<T>(limitMs: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing within ${limitMs} ms`)), limitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Asks again until the condition holds; fails when it never does. */
export async function eventually(
  limitMs: number,
  what: string,
  holds: () => Promise<boolean>,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`${what}: not so within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
