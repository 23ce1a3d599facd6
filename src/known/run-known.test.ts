import { expect, it } from 'vitest';
import type { Target } from '../targets/index.js';
import type { KnownCase } from './known-case.js';
import { requestOf } from './run-known.js';

it('does not run a case at a level that the oracle cannot judge', () => {
  const levels = ['read uncommitted', 'read committed'] as const;
  const target = {
    name: 'mariadb',
    dialect: 'mysql',
    levels: levels.map((level) => ({
      level,
      contract: `mariadb:${level.replace(' ', '-')}`,
      begin: 'BEGIN',
    })),
    defaultLevel: 'read committed',
  } as unknown as Target;
  const at = (level: (typeof levels)[number]) =>
    requestOf(
      {
        case: { name: 'c', level, setup: [], sessions: [] },
        schedule: { batches: [] },
      } as unknown as KnownCase,
      target,
      { oracle: 'statement' },
    );
  expect(at('read uncommitted')).toEqual({
    why: expect.stringContaining('the oracle statement cannot judge it: mariadb:read-uncommitted lets'),
  });
  expect(at('read committed')).toMatchObject({
    oracle: 'statement',
    contract: { id: 'mariadb:read-committed' },
  });
});
