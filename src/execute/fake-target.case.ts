/**
 * A scripted target for tests of the executors: statements are commands to a little lock table, so that every
 * outcome can be provoked at will and at once. `LOCK x` takes x or waits; `DIE` loses the connection; `HANG`
 * is never answered; `DEADLOCK` rolls the transaction back; `DOOM` fails it; `BUSY` fails and leaves it open.
 */
import type { ErrorClass } from '../histories/index.js';
import type { Answer, Scratch, Session, Target } from '../targets/index.js';

export interface FakeLog {
  readonly sent: string[];
}

export function fakeTarget(overrides: Partial<Target['features']> = {}): { target: Target; log: FakeLog } {
  const log: FakeLog = { sent: [] };
  const target: Target = {
    name: 'fake',
    dialect: 'postgres',
    stamp: { name: 'fake', version: '1' },
    levels: [
      { level: 'read committed', contract: 'fake:rc', begin: 'BEGIN' },
      { level: 'serializable', contract: 'fake:ser', begin: 'BEGIN SERIALIZABLE' },
    ],
    defaultLevel: 'read committed',
    features: {
      conflicts: 'wait',
      counts: 'matched',
      lockingReads: true,
      savepoints: true,
      errorDoomsTransaction: true,
      transactionalDdl: true,
      cancel: true,
      ...overrides,
    },
    createScratch: async () => fakeScratch(log),
    close: async () => undefined,
  };
  return { target, log };
}

function fakeScratch(log: FakeLog): Scratch {
  const owners = new Map<string, FakeSession>();
  const queues = new Map<string, { session: FakeSession; grant: () => void }[]>();
  const blocked = new Set<FakeSession>();
  let count = 0;

  class FakeSession implements Session {
    readonly id = ++count;
    open = false;
    failed = false;
    /** Every end of a transaction begins another. */
    chains = false;
    closed = false;
    #stopWaiting: (() => void) | undefined;

    async execute(sql: string): Promise<Answer> {
      log.sent.push(`${this.id}: ${sql}`);
      if (this.closed) return lostAnswer;
      const [word, name = ''] = sql.split(' ');
      switch (word) {
        case 'BEGIN':
          this.open = true;
          return this.#answer();
        case 'COMMIT':
          if (name === 'BUSY') return this.#answer('busy');
          if (name === 'AND') {
            const ended = this.#end(this.failed ? 'rollback' : 'commit');
            this.open = true;
            return { ...ended, transaction: 'open' };
          }
          return this.#end(this.failed ? 'rollback' : 'commit');
        case 'ROLLBACK': {
          const ended = this.#end('rollback');
          this.open = this.chains;
          return this.chains ? { ...ended, transaction: 'open' } : ended;
        }
        case 'CHAINS':
          this.chains = true;
          return this.#answer();
        case 'LOCK':
          if (await this.#lock(name)) return this.#answer();
          this.failed = this.open;
          return this.#answer('cancelled');
        case 'DIE':
          this.closed = true;
          this.#release();
          return lostAnswer;
        case 'HANG':
          return new Promise(() => undefined);
        case 'DEADLOCK':
          this.#release();
          this.open = false;
          return { ...this.#answer('deadlock'), ended: 'rollback' };
        case 'DOOM':
          this.failed = this.open;
          return this.#answer('serialization');
        default:
          return this.#answer();
      }
    }

    #answer(error?: ErrorClass): Answer {
      const transaction = this.failed ? 'failed' : this.open ? 'open' : 'none';
      return error === undefined ? { transaction } : { transaction, error: { class: error, message: error } };
    }

    #end(ended: 'commit' | 'rollback'): Answer {
      this.open = false;
      this.failed = false;
      this.#release();
      return { transaction: 'none', ended };
    }

    /** Whether it got the lock; false: it was cancelled. */
    #lock(name: string): Promise<boolean> {
      const owner = owners.get(name);
      if (owner === undefined || owner === this) {
        owners.set(name, this);
        return Promise.resolve(true);
      }
      blocked.add(this);
      return new Promise((resolve) => {
        const grant = () => {
          blocked.delete(this);
          owners.set(name, this);
          resolve(true);
        };
        queues.set(name, [...(queues.get(name) ?? []), { session: this, grant }]);
        this.#stopWaiting = () => {
          blocked.delete(this);
          queues.set(
            name,
            queues.get(name)!.filter((one) => one.session !== this),
          );
          resolve(false);
        };
      });
    }

    #release(): void {
      for (const [name, owner] of [...owners]) {
        if (owner !== this) continue;
        owners.delete(name);
        queues.get(name)?.shift()?.grant();
      }
    }

    async cancel(): Promise<void> {
      log.sent.push(`${this.id}: (cancel)`);
      this.#stopWaiting?.();
    }

    async close(): Promise<void> {
      this.closed = true;
      this.#release();
    }
  }

  return {
    namespace: 'isolde_fake',
    reset: async () => undefined,
    openSession: async () => new FakeSession(),
    waiting: async () => new Set<Session>(blocked),
    drop: async () => undefined,
  };
}

const lostAnswer: Answer = { transaction: 'lost', error: { class: 'connection-lost', message: 'gone' } };
