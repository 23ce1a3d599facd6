import { describe, expect, it } from 'vitest';
import type { Cell, CellOutcome } from './cell.js';
import { compareSubjects } from './compare-subjects.js';

/** `a: s3 s3 n c | b: s3 s3 n s3`: cells along versions; `s2` shows in 2 of 3 runs. */
function cells(text: string): Cell[] {
  const outcomes: Record<string, CellOutcome> = {
    s: 'shows',
    n: 'does-not-show',
    c: 'cannot-run',
    u: 'undecided',
  };
  return text.split('|').flatMap((part) => {
    const [subject, line] = part.split(':').map((each) => each.trim());
    return line!.split(' ').map(
      (word, i): Cell => ({
        subject: subject!,
        place: { url: `x@${i}:`, engine: 'x', version: String(i), settings: '' },
        result: { outcome: outcomes[word[0]!]!, why: '', shown: Number(word[1] ?? 0), runs: 3 },
      }),
    );
  });
}
const compare = (text: string) => compareSubjects(cells(text), 'a', 'b');

describe('compareSubjects', () => {
  it('one bug: shown together and gone together, over two versions or behaving alike', () => {
    expect(compare('a: s3 n | b: s3 n')).toMatchObject({ verdict: 'undecided', changes: ['0 to 1'] });
    const alike = cells('a: s3 n | b: s3 n').map((cell) =>
      cell.result.outcome === 'shows' ? { ...cell, result: { ...cell.result, behaviours: ['x'] } } : cell,
    );
    expect(compareSubjects(alike, 'a', 'b').verdict).toBe('one');

    expect(compare('a: n s3 s3 n | b: n s3 s3 n')).toMatchObject({ verdict: 'one', leftOut: 0 });
    expect(compare('a: n s3 c n n | b: n s2 s3 u n')).toMatchObject({ verdict: 'one', leftOut: 2 });
  });

  it('two bugs: a cell where they differ', () => {
    expect(compare('a: n s3 s3 | b: n s3 n')).toMatchObject({ verdict: 'two', differ: ['x 2'] });
    expect(compare('a: n | b: s1')).toMatchObject({ verdict: 'two' });
  });

  it('nothing is learnt where both show everywhere, or nowhere, or could not be run together', () => {
    expect(compare('a: s3 s3 | b: s3 s3')).toMatchObject({
      verdict: 'undecided',
      why: expect.stringContaining('both show in 2 cells'),
    });
    expect(compare('a: n n | b: n n')).toMatchObject({
      verdict: 'undecided',
      why: 'neither shows in any cell',
    });
    expect(compare('a: c s3 | b: s3 u')).toMatchObject({
      verdict: 'undecided',
      why: 'no cell could run both',
      leftOut: 2,
    });
  });

  it('the absence of a case that shows by chance proves nothing', () => {
    expect(compare('a: n s3 s3 | b: n s1 n')).toMatchObject({ verdict: 'undecided', differ: ['x 2'] });
    // The one that is absent shows reliably where it shows: it is really gone.
    expect(compare('a: n s1 s1 | b: n s3 n')).toMatchObject({ verdict: 'two', differ: ['x 2'] });
  });
});
