import { describe, expect, it } from 'vitest';
import { cosineOfText, repScores, type TextReport } from './text-likeness.js';

const report = (id: string, title: string, body: string, categories: readonly string[] = []): TextReport => ({
  ...{ id, title, body, categories },
});
const reports = [
  report('lost', 'Lost update', 'UPDATE t SET v = 1; two updates of one row', ['duckdb']),
  report('dirty', 'Dirty read', 'SELECT v FROM t; a read of what was rolled back', ['duckdb']),
  report('other', 'Dirty read', 'SELECT v FROM t; a read of what was rolled back', ['postgres']),
];
const asked = report('asked', 'A dirty read', 'SELECT x FROM s; it was rolled back', ['duckdb']);

describe('rankings by words', () => {
  it.each([
    ['cosine', cosineOfText],
    ['REP', repScores],
  ])('%s puts reports first that share rare words', (_, rank) => {
    const scores = rank(reports)(asked);
    expect(scores.get('dirty')!).toBeGreaterThan(scores.get('lost')!);
  });

  it('REP counts equal categories, the cosine of texts does not', () => {
    expect(repScores(reports)(asked).get('dirty')! - repScores(reports)(asked).get('other')!).toBeCloseTo(1);
    expect(cosineOfText(reports)(asked).get('dirty')).toBeCloseTo(cosineOfText(reports)(asked).get('other')!);
  });

  it('a text is most like itself', () => {
    for (const each of reports.slice(0, 2)) expect(cosineOfText(reports)(each).get(each.id)).toBeCloseTo(1);
  });
});
