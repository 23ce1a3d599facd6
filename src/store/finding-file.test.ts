import { describe, expect, it } from 'vitest';
import type { Finding } from '../check/index.js';
import { parseFinding, printFinding } from './finding-file.js';

const finding: Finding = {
  ...{ kind: 'lost-update', oracle: 'dependency-graph', certainty: 'proved', rulesOut: ['snapshot'] },
  ...{ transactions: [], operations: [], explanation: 'Both read 10 and both wrote.' },
};
const edited = (kind: string, oracle: string): string =>
  printFinding(finding)
    .replace('"lost-update"', JSON.stringify(kind))
    .replace('"dependency-graph"', `"${oracle}"`);

describe('finding.json', () => {
  it('comes back as it was', () => {
    expect(parseFinding(printFinding(finding), 'finding.json')).toEqual(finding);
  });

  it('refuses a kind that is not in the table', () => {
    expect(() => parseFinding(edited('lost-sock', 'mechanism'), 'finding.json')).toThrow(
      'there is no kind of finding called "lost-sock"',
    );
  });

  it('reads what earlier releases called a future read of the mechanism verifier', () => {
    expect(parseFinding(edited('future-read', 'mechanism'), 'finding.json').kind).toBe('post-snapshot-read');
    expect(parseFinding(edited('future-read', 'dependency-graph'), 'finding.json').kind).toBe('future-read');
  });
});
