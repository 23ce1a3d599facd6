import { expect, it } from 'vitest';
import { targetDeclarations } from '../targets/index.js';
import { enginesHere, startable } from './engines-here.js';

it('an installed engine is also called by its version', async () => {
  const engines = await enginesHere(['duckdb']);
  const [plain, versioned, ...others] = Object.entries(engines);
  expect(plain).toEqual(['duckdb', expect.stringMatching(/\d+\.\d+\.\d+/)]);
  expect(versioned).toEqual([expect.stringMatching(/^duckdb@\d+\.\d+\.\d+$/), plain![1]]);
  expect(plain![1]).toContain(versioned![0].split('@')[1]);
  expect(others).toEqual([]);
});

it('every engine that has a private server is tried, H2 with its digit among them', () => {
  const engines = targetDeclarations.filter(({ privateUrl }) => privateUrl !== undefined);
  const reports = engines.map(({ name, title, usage, privateUrl }) => ({
    ...{ engine: name, title, usage },
    found: [{ url: privateUrl!({}), version: '1', from: 'a test' }],
  }));
  expect(startable(reports)).toEqual(engines.map(({ name }) => name));
  expect(startable(reports)).toContain('h2');
});
