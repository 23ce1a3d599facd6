/**
 * A database in memory, for tests of plans in milliseconds. It answers what the evaluator of the shadow state answers and refuses
 * everything else as unsupported, so that it is correct by definition; `tamper` makes it wrong at a statement of choice.
 */
import { isUndecidable, parseStatement } from '../sql/index.js';
import type { Answer, Session, Target } from '../targets/index.js';
import { predictedRows } from './run-plan.js';
import { ShadowState } from './shadow-state.js';

/** Answers a statement in the place of the database; undefined: the database answers it itself. */
export type Tamper = (sql: string, honest: () => Answer, session: number) => Answer | undefined;

export interface MemoryOptions {
  readonly tamper?: Tamper;
  readonly features?: Partial<Target['features']>;
  /** More of the target, or less. */
  readonly over?: Partial<Target>;
  /** Closes and opens the database again; absent: it cannot. */
  readonly reopen?: () => Promise<void>;
  readonly digest?: () => Promise<string>;
}

export interface MemoryTarget {
  readonly target: Target;
  /** `session: statement`, sessions numbered as they were opened; `(closed)` and `(cancelled)` are among them. */
  readonly sent: string[];
}

/** An error as an engine answers it, outside a transaction unless told otherwise. */
export const refusal = (
  kind: NonNullable<Answer['error']>['class'],
  message: string = kind,
  transaction: Answer['transaction'] = 'none',
): Answer => ({ transaction, error: { class: kind, message } });

export function memoryTarget(options: MemoryOptions = {}): MemoryTarget {
  const sent: string[] = [];
  const target: Target = {
    name: 'memory',
    dialect: 'sqlite',
    stamp: { name: 'memory', version: '1' },
    levels: [
      { level: 'read committed', contract: 'memory:rc', begin: 'BEGIN' },
      { level: 'serializable', contract: 'memory:ser', begin: 'BEGIN IMMEDIATE' },
    ],
    defaultLevel: 'serializable',
    features: {
      conflicts: 'wait',
      counts: 'matched',
      lockingReads: false,
      savepoints: true,
      errorDoomsTransaction: false,
      transactionalDdl: true,
      cancel: true,
      ...options.features,
    },
    createScratch: async () => {
      let shadow = new ShadowState({
        dialect: 'sqlite',
        target: 'sqlite',
        pivot: 'statement',
        ddlCommits: false,
      });
      let count = 0;
      const follow = (number: number, sql: string): Answer => {
        const statement = parseStatement(sql, 'sqlite');
        const state = (): Answer['transaction'] => (shadow.inTransaction(number) ? 'open' : 'none');
        if (statement.type === 'select') {
          const rows = predictedRows(sql, shadow.view(number), { dialect: 'sqlite', name: 'sqlite' });
          return isUndecidable(rows)
            ? refusal('unsupported', rows.undecidable, state())
            : { transaction: state(), rows };
        }
        const after = shadow.copy();
        after.apply(number, statement);
        if ([...after.view(number).values()].some(({ rows }) => isUndecidable(rows)))
          return refusal('unsupported', 'the evaluator does not follow it', state());
        shadow = after;
        return { transaction: state() };
      };
      const openSession = async (): Promise<Session> => {
        const number = count++;
        return {
          id: number,
          execute: async (sql) => {
            sent.push(`${number}: ${sql}`);
            const honest = () => follow(number, sql);
            return options.tamper?.(sql, honest, number) ?? honest();
          },
          cancel: async () => {
            sent.push(`${number}: (cancelled)`);
          },
          close: async () => {
            sent.push(`${number}: (closed)`);
            shadow.rollBack(number);
          },
        };
      };
      return {
        namespace: 'isolde_memory',
        reset: async () => undefined,
        openSession,
        waiting: async () => new Set<Session>(),
        drop: async () => undefined,
        ...(options.reopen && { reopen: options.reopen }),
        ...(options.digest && { digest: options.digest }),
      };
    },
    close: async () => undefined,
    ...options.over,
  };
  return { target, sent };
}
