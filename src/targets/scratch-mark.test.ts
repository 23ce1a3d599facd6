import { describe, expect, it } from 'vitest';
import { madeAt, ownerOf, scratchMark } from './scratch-mark.js';

describe('the mark of a scratch', () => {
  it('says when it was made, and by whom', () => {
    const mark = scratchMark(4711);
    expect(ownerOf(mark)).toBe(4711);
    expect(ownerOf(scratchMark())).toBeUndefined();
    const time = madeAt('isolde_0123456789ab', mark)!;
    expect(Math.abs(Date.now() - Date.parse(time))).toBeLessThan(60_000);
  });

  const mark = 'isolde scratch, made 2026-01-31T12:00:00.000Z';

  it.each(['isolde_0123456789ab', 'isolde_0123456789abcdef'])('counts on %s', (namespace) => {
    expect(madeAt(namespace, mark)).toBe('2026-01-31T12:00:00.000Z');
  });

  it.each([
    'isolde',
    'isolde_',
    'isolde_shared',
    'isolde_0123456789a',
    'isolde_0123456789abcdef0',
    'isolde_0123456789AB',
    'ISOLDE_0123456789ab',
    'my_isolde_0123456789ab',
    'isolde_0123456789ab; DROP SCHEMA public',
    'isolde_0123456789ab\n',
    '',
  ])('does not count on %j, which may be the user’s', (namespace) => {
    expect(madeAt(namespace, mark)).toBeUndefined();
  });

  it.each([
    'isolde scratch',
    'a comment about isolde scratch, made 2026-01-31T12:00:00.000Z',
    `${mark} by hand`,
    `${mark} by -1`,
    `${mark} by 1 and more`,
    'isolde scratch, made yesterday',
    null,
    undefined,
    7,
  ])('is not %j: a name alone proves nothing', (other) => {
    expect(madeAt('isolde_0123456789ab', other)).toBeUndefined();
  });
});
