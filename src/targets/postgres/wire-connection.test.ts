import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.doUnmock('pg');
  vi.resetModules();
});

it('says how to install the driver when it is missing', async () => {
  vi.resetModules();
  vi.doMock('pg', () => {
    throw new Error("Cannot find package 'pg'");
  });
  const { postgresDriver } = await import('./index.js');
  for (const url of ['postgres:', 'postgres://u@127.0.0.1:19999/d']) {
    await expect(postgresDriver.open(url, {})).rejects.toMatchObject({
      code: 'engine-missing',
      message: expect.stringContaining('npm install pg'),
    });
  }
});
