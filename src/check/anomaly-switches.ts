/** Anomalies to look for: names switched on (then only those count) or, with `no-` before them, off. */
import { IsoldeError } from '../errors.js';
import type { CycleAnomaly, GraphAnomaly, ReadAnomaly } from './finding.js';
import type { CheckOptions } from './oracle.js';

const cycles: Readonly<Record<CycleAnomaly, true>> = {
  G0: true,
  G1c: true,
  'lost-update': true,
  'read-skew': true,
  'read-write-skew': true,
  'write-skew': true,
  'G-single': true,
  'G-nonadjacent': true,
  'G2-item': true,
  G2: true,
};
const reads: Readonly<Record<ReadAnomaly, true>> = {
  G1a: true,
  G1b: true,
  internal: true,
  'future-read': true,
  'garbage-read': true,
  'incompatible-order': true,
  'duplicate-write': true,
};

const names: readonly GraphAnomaly[] = [
  ...(Object.keys(reads) as ReadAnomaly[]),
  ...(Object.keys(cycles) as CycleAnomaly[]).flatMap((name): GraphAnomaly[] => [
    name,
    `${name}-session`,
    `${name}-realtime`,
  ]),
  'no-order',
];

/** Parses `G1a,lost-update` or `no-write-skew,no-G2`. */
export function parseAnomalySwitches(text: string): NonNullable<CheckOptions['anomalies']> {
  const only: string[] = [];
  const ignore: string[] = [];
  for (const word of text.split(',')) {
    const given = word.trim();
    const exact = nameOf(given);
    const off = exact === undefined && /^(no-|-)/i.test(given);
    const name = off ? nameOf(given.replace(/^(no-|-)/i, '')) : exact;
    if (name === undefined) {
      throw new IsoldeError('usage', `there is no anomaly "${given}"; there are ${names.join(', ')}`);
    }
    (off ? ignore : only).push(name);
  }
  return { ...(only.length > 0 && { only }), ...(ignore.length > 0 && { ignore }) };
}

function nameOf(text: string): GraphAnomaly | undefined {
  return names.find((name) => name.toLowerCase() === text.toLowerCase());
}
