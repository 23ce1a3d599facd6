/** What engines and findings are called in sentences. */
import { anomalies } from '../contracts/index.js';
import { findDeclaration } from '../targets/index.js';

export function nameEngine(name: string): string {
  return findDeclaration(name)?.title ?? name;
}

const findings: Readonly<Record<string, string>> = {
  'own-write-missed': 'a transaction does not see its own write',
  'own-delete-missed': 'a transaction still sees a row it deleted',
  'condition-mismatch': 'a write and a read of one transaction disagree about a condition',
  'update-of-changed-row': 'a row that changed after the snapshot is written without a conflict',
  'lock-violated': 'a row another transaction holds is given away',
  'write-missed-row': 'a write misses rows its condition selects',
  'write-extra-row': 'a write hits rows its condition does not select',
  'missing-row': 'a read misses a row it must see',
  'extra-row': 'a read returns a row it must not see',
  'dirty-read': 'a read sees uncommitted data',
  'intermediate-read': 'a read sees an intermediate version',
  'future-read': 'a read sees a version from after its snapshot',
  'stale-read': 'a read sees a version overwritten before its snapshot',
  'wrong-version': 'a read returns a value that was never written',
  'wrong-result': 'a query returns what no state of the database gives',
  'fractured-snapshot': 'reads of one transaction fit no single snapshot',
  'lost-write': 'a committed write is gone',
  internal: 'a transaction contradicts its own reads or writes',
  'incompatible-order': 'reads disagree about the order of a row’s versions',
  'garbage-read': 'a read returns a value nobody wrote',
  'duplicate-write': 'one write shows twice',
  'no-order': 'no order of the transactions explains the results',
  crash: 'the server dies',
  'connection-lost': 'the server cuts the connection',
  hang: 'the server never answers',
};

export function nameFinding(kind: string): string {
  if (Object.hasOwn(findings, kind)) return findings[kind]!;
  // Cycles that need the order of sessions or of the clock say so behind their name.
  const [, base, order] = /^(.*?)(?:-(session|realtime))?$/s.exec(kind)!;
  const title = anomalies.find(({ id }) => id === base)?.title;
  if (title === undefined) return kind;
  return order === undefined ? title : `${title}, by ${order === 'session' ? 'session' : 'real-time'} order`;
}
