import { expect, it } from 'vitest';
import { openTarget } from '../targets/index.js';
import { withPlanted } from '../targets/planted-target.case.js';
import { learnCapabilities } from './learn-capabilities.js';

/** A later build of SQLite that does not know UPDATE any more. */
const later = async () =>
  withPlanted(await openTarget('sqlite:'), {
    execute: async (sql, send) =>
      /^UPDATE/.test(sql)
        ? { transaction: 'none', error: { class: 'unsupported', message: 'no UPDATE' } }
        : send(sql),
  });

it('tells what a later build cannot do any more, and what it can do again', { timeout: 60_000 }, async () => {
  const options = { plans: 8, seed: 'c' };
  const first = await learnCapabilities(() => openTarget('sqlite:'), undefined, options);
  expect(first).toMatchObject({ gained: [], lost: [] });
  expect(first.capabilities.proven).toContain('statement.update');
  const second = await learnCapabilities(later, first.capabilities, options);
  expect(second.lost).toEqual([
    { feature: 'statement.update', refused: expect.any(Number), example: expect.stringMatching(/^UPDATE/) },
  ]);
  expect(second.capabilities.proven).not.toContain('statement.update');
  expect(second.capabilities.unsupported).toContain('statement.update');
  const third = await learnCapabilities(() => openTarget('sqlite:'), second.capabilities, options);
  expect(third).toMatchObject({ gained: ['statement.update'], lost: [] });
});
