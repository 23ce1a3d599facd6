import { describe, expect, it } from 'vitest';
import { DatabaseLanes } from './database-lanes.js';
import { fakeTarget } from './fake-target.case.js';

describe('a lane whose scratch cannot be reset', () => {
  it('gets a new scratch and new sessions, and the database stays open', async () => {
    let opened = 0;
    let scratches = 0;
    const lanes = await DatabaseLanes.open({
      open: async () => {
        opened++;
        const { target } = fakeTarget();
        return {
          ...target,
          createScratch: async () => {
            const scratch = await target.createScratch();
            // A session of the first one holds a lock that nobody knows of.
            const stuck = scratches++ === 0;
            return {
              ...scratch,
              reset: async () => (stuck ? Promise.reject(new Error('locked')) : undefined),
            };
          },
        };
      },
    });
    const before = await lanes.lane(0);
    expect(await lanes.isAlive(0)).toBe(false);
    expect(await lanes.renew(0)).toBe(true);
    expect(await lanes.lane(0)).not.toBe(before);
    expect([opened, scratches]).toEqual([1, 2]);
    await lanes.close();
  });
});
