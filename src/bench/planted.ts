/**
 * Long valid histories with one anomaly in their middle, each of a few transactions on keys of their own: what a checker must
 * find, name and prove however long the rest is.
 */
import type { CheckLevel } from '../check/index.js';
import { KvBuilder, type KvHistory } from '../histories/index.js';
import { addTransactions, type LoggedTransaction, randomProgram, runStore } from './concurrent-store.js';

export interface Planted {
  readonly name: string;
  /** The weakest level it breaks, and one right below that it does not. */
  readonly level: CheckLevel;
  readonly below: CheckLevel;
  /** The kind of finding that names it. */
  readonly kind: string;
  /** Its transactions: `w` or `r`, key and value; `!` first for one that aborts. */
  readonly transactions: readonly string[];
}

export const plantedAnomalies: readonly Planted[] = [
  {
    name: 'lost update',
    level: 'snapshot',
    below: 'prefix',
    kind: 'lost-update',
    transactions: ['wp1', 'rp1 wp2', 'rp1 wp3'],
  },
  {
    name: 'write skew',
    level: 'serializable',
    below: 'snapshot',
    kind: 'write-skew',
    transactions: ['wp1 wq1', 'rp1 rq1 wp2', 'rp1 rq1 wq2'],
  },
  {
    name: 'long fork',
    level: 'prefix',
    below: 'causal',
    kind: 'G-nonadjacent',
    transactions: ['wp1 wq1', 'rp1 wp2', 'rq1 wq2', 'rp2 rq1', 'rp1 rq2'],
  },
  {
    name: 'read skew',
    level: 'read atomic',
    below: 'read committed',
    kind: 'read-skew',
    transactions: ['wp1 wq1', 'rp1 rq1 wp2 wq2', 'rp1 rq2'],
  },
  {
    name: 'aborted read',
    level: 'read committed',
    below: 'read uncommitted',
    kind: 'G1a',
    transactions: ['!wp1', 'rp1'],
  },
  {
    name: 'intermediate read',
    level: 'read committed',
    below: 'read uncommitted',
    kind: 'G1b',
    transactions: ['wp1 wp2', 'rp1'],
  },
  {
    name: 'circular information flow',
    level: 'read committed',
    below: 'read uncommitted',
    kind: 'G1c',
    transactions: ['wp1 rq1', 'wq1 rp1'],
  },
  {
    name: 'causal violation',
    level: 'causal',
    below: 'read atomic',
    kind: 'G-single',
    transactions: ['wp1', 'rp1 wp2', 'rp2 wq2', 'rq2 rp1'],
  },
];

/** Transactions that overlap, over a store that is serializable, and the anomaly between them. */
export function plantedHistory(anomaly: Planted, txCount: number, seed = 1): KvHistory {
  const program = randomProgram(Math.max(10, Math.round(txCount / 10)), 6);
  return plantIn(runStore({ promise: 'serializable', program, sessions: 25, txCount, seed }), anomaly);
}

/** A log with the anomaly in its middle, in sessions of its own. */
export function plantIn(log: readonly LoggedTransaction[], anomaly: Planted): KvHistory {
  const builder = new KvBuilder({ definitions: 'axiomatic' });
  const middle = log.length >> 1;
  addTransactions(builder, log.slice(0, middle));
  for (const [i, text] of anomaly.transactions.entries()) plant(builder, text, `planted ${i}`);
  addTransactions(builder, log.slice(middle));
  return builder.build();
}

function plant(builder: KvBuilder, text: string, session: string): void {
  builder.begin(session);
  for (const op of text.replace('!', '').split(' ')) {
    if (op[0] === 'w') builder.write(op[1]!, Number(op[2]));
    else builder.read(op[1]!, Number(op[2]));
  }
  builder.end(text.startsWith('!') ? 'aborted' : 'committed');
}
