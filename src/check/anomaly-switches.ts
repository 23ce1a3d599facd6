/** Anomalies to look for: names switched on (then only those count) or, with `no-` before them, off. */
import { graphAnomalies } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { GraphAnomaly } from './finding.js';
import type { CheckOptions } from './oracle.js';

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
      throw new IsoldeError(
        'usage',
        `there is no anomaly "${given}"; there are ${graphAnomalies.join(', ')}`,
      );
    }
    (off ? ignore : only).push(name);
  }
  return { ...(only.length > 0 && { only }), ...(ignore.length > 0 && { ignore }) };
}

function nameOf(text: string): GraphAnomaly | undefined {
  return graphAnomalies.find((name) => name.toLowerCase() === text.toLowerCase());
}
