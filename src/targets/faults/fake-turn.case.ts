/** A turn of a fault without any database: what is sent is noted, and answered as told. */
import type { Answer } from '../target.js';
import { Channel } from './channel.js';
import { shapeOf } from './statement-shape.js';
import type { TransactionLog, Turn } from './turn.js';

export interface FakeTurnOptions {
  /** What the transaction has sent before; absent: the statement autocommits. */
  readonly before?: readonly string[];
  readonly log?: Partial<TransactionLog>;
  readonly fires?: boolean;
  /** Answers by statement; all others work. */
  readonly answers?: Readonly<Record<string, Answer>>;
  readonly features?: { readonly savepoints?: boolean };
  /** The levels the target offers; the session claims the last one. */
  readonly levels?: readonly string[];
  readonly level?: string;
  readonly holdsSnapshot?: boolean;
}

/** `weak: …` in `sent` went to the auxiliary connection of a weaker level. */
export function fakeTurn(sql: string, options: FakeTurnOptions = {}) {
  const sent: string[] = [];
  const { before, answers = {}, levels = ['serializable'], level } = options;
  const channel = (name: string, open: boolean): Channel => {
    let transaction: Answer['transaction'] = open ? 'open' : 'none';
    const execute = async (text: string): Promise<Answer> => {
      sent.push(`${name}${text}`);
      if (/^(BEGIN|START)/.test(text)) transaction = 'open';
      if (/^(COMMIT|ROLLBACK$)/.test(text)) transaction = 'none';
      const answer = answers[text] ?? { transaction };
      transaction = answer.transaction;
      return answer;
    };
    return new Channel({ execute } as unknown as ConstructorParameters<typeof Channel>[0]);
  };
  const own = channel('', before !== undefined);
  const weak = channel('weak: ', false);
  const log: TransactionLog | undefined =
    before === undefined
      ? undefined
      : {
          ...{ begin: 'BEGIN', savepoints: false, deleted: [], ...options.log },
          statements: before.map((each) => shapeOf(each, 'postgres')),
        };
  let opened = before !== undefined;
  const scratch = {
    target: {
      ...{ dialect: 'postgres', features: { savepoints: true, ...options.features } },
      levels: levels.map((each) => ({ level: each, begin: `BEGIN ${each}` })),
    },
    spec: level === undefined ? {} : { level },
  };
  const session = {
    ...{ own, main: own, log, scratch, options: { level: levels.at(-1) } },
    ...{ level: { begin: 'BEGIN' }, holdsSnapshot: options.holdsSnapshot ?? true },
    beginAt: (each: string) => `BEGIN ${each}`,
    auxiliary: async () => {
      opened = true;
      return weak;
    },
    opened: () => (opened && levels.length > 1 ? weak : undefined),
  };
  const turn = {
    ...{ sql, statement: shapeOf(sql, 'postgres'), session, scratch, log },
    send: (text = sql) => session.main.send(text),
    fires: () => options.fires ?? true,
  } as unknown as Turn;
  /** Opens the transaction on the connections, as an earlier turn did; not noted. */
  const open = async (...channels: readonly Channel[]) => {
    for (const each of channels) await each.send('BEGIN');
    sent.length = 0;
  };
  return { turn, sent, log: log!, session, own, weak, open };
}
