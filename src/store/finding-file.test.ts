import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { explain, type Finding, stepReasons } from '../check/index.js';
import { parseFinding, printFinding } from './finding-file.js';

const parse = (text: string): Finding => parseFinding(text, 'finding.json');

/** One of every piece and every observation. */
const finding: Finding = {
  ...{ kind: 'lost-update', oracle: 'dependency-graph', certainty: 'proved', rulesOut: ['snapshot'] },
  transactions: [{ id: 0, name: 'T1', session: 'T1', status: 'committed' }],
  operations: [{ index: 2, transaction: 0, text: 'SELECT 1' }],
  versions: [
    {
      ...{ operation: 2, object: 't/1', seen: { as: 'values', text: '(1, 10)', width: 2 } },
      allowed: [
        { as: 'absent' },
        { as: 'matched', count: 1 },
        { as: 'matched', count: [1, 2] },
        { as: 'written' },
        { as: 'not-written' },
        { as: 'conflict-error' },
        { as: 'wait' },
        { as: 'lock', mode: 'share' },
        { as: 'before-commit', transaction: 0, name: 'T1' },
        { as: 'after-commit', transaction: 0, name: 'T1' },
      ],
    },
  ],
  cycle: [
    { from: 0, to: 1, kind: 'rw', object: 't/1', because: [{ transaction: 0 }, ' read ', { row: 't/1' }] },
  ],
  explanation: [
    {
      reason: 'ran',
      says: [{ transaction: 0, name: 'T1' }, ' ran ', { operation: 2, sql: 'SELECT 1' }, '.'],
    },
    {
      reason: 'allowed',
      says: [
        { version: '(1, 10)' },
        {
          version: 'no row',
          writer: { transaction: 1, name: 'T2', fate: 'committed' },
          committed: { start: 1, end: null },
          ...{ deleted: true, doubtful: true },
        },
      ],
    },
    {
      reason: 'rule',
      says: [
        { data: 'x' },
        { when: { start: 1, end: 2 } },
        { source: { title: 'A', url: 'https://example.org' } },
      ],
    },
  ],
};
const edited = (from: string, to: string): string => printFinding(finding).replace(from, to);

describe('finding.json', () => {
  it('reads numbers of rows that earlier files hold as text', () => {
    const [version] = finding.versions!;
    const counts = (count: unknown) => {
      const versions = [{ ...version, allowed: [{ as: 'matched', count }] }];
      const written = JSON.parse(printFinding(finding));
      return parse(JSON.stringify({ ...written, versions })).versions![0]!.allowed;
    };
    expect(counts('2')).toEqual([{ as: 'matched', count: 2 }]);
    expect(counts('1 to 3')).toEqual([{ as: 'matched', count: [1, 3] }]);
    expect(counts([1, 3])).toEqual([{ as: 'matched', count: [1, 3] }]);
    for (const bad of ['many', '1 to many', [], [1, 2, 3], -1])
      expect(() => counts(bad)).toThrow(/rows|integer/);
  });

  it('reads the example of its documentation, which says what its text shows', () => {
    const page = readFileSync(new URL('../../docs/formats/finding.md', import.meta.url), 'utf8');
    const example = parse(/```json\n([\s\S]*?)```/.exec(page)![1]!);
    expect(explain(example)).toMatchInlineSnapshot(`
      "T2 took its snapshot in [10, 20].
      After that, t/1 became no row (deleted by T1, committed in [30, 40]).
      However, T2 then ran operation 3 (UPDATE t SET v = 5)."
    `);
    for (const reason of stepReasons) expect(page).toContain(`\`${reason}\``);
  });

  it('comes back as it was', () => {
    expect(parse(printFinding(finding))).toEqual(finding);
  });

  it.each([
    ['"lost-update"', '"lost-sock"', 'there is no kind of finding called "lost-sock"'],
    ['"reason": "ran"', '"reason": "because"', 'explanation[0].reason'],
    ['"fate": "committed"', '"fate": "late"', 'explanation[1].says[1].writer.fate'],
    ['"start": 1', '"start": "<b>"', 'expected a time or null'],
    ['"as": "absent"', '"as": "gone"', 'versions[0].allowed[0].as'],
    ['"data": "x"', '"html": "x"', 'unknown field html'],
  ])('refuses %s for %s', (from, to, message) => {
    expect(() => parse(edited(from, to))).toThrow(message);
  });

  it('reads version 1, which kept sentences, and another name for reads from after the snapshot', () => {
    const { versions, cycle, ...rest } = finding;
    const old = (oracle: string): string =>
      JSON.stringify({
        ...{ format: 'isolde-finding', version: 1, ...rest, kind: 'future-read', oracle },
        versions: [{ operation: 2, object: 't/1', seen: '(1, 11)', allowed: ['no row'] }],
        cycle: [{ from: 0, to: 1, kind: 'rw', because: 'T1 read t/1' }],
        explanation: 'T1 ran.\nHowever, no.',
      });
    expect(parse(old('mechanism'))).toMatchObject({
      kind: 'post-snapshot-read',
      versions: [{ seen: { as: 'values', text: '(1, 11)' }, allowed: [{ as: 'absent' }] }],
      cycle: [{ because: [{ data: 'T1 read t/1' }] }],
      explanation: [
        { reason: 'fact', says: [{ data: 'T1 ran.' }] },
        { reason: 'fact', says: [{ data: 'However, no.' }] },
      ],
    });
    expect(parse(old('dependency-graph')).kind).toBe('future-read');
  });
});
