import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * Test files that run one after another in a process that they share, so that the sources are loaded once: docs/decisions/ci-time.md. Those named
 * in `!(…)` replace modules, and have a process each, as all others do.
 */
const together = [
  'src/*.test.ts',
  'src/{bench,cases,check,contracts,dedupe,execute,experts,generate,histories,judge,known,matrix,reduce,report,reproduce,rows,sql}/**/!(campaigns|taken-places).test.ts',
];

export default defineConfig({
  // Examples import the package by its name.
  resolve: { alias: { 'isolde-db': fileURLToPath(new URL('src/index.ts', import.meta.url)) } },
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two cores run both the tests and the servers they start.
    maxWorkers: 2,
    // In this order, so that what is left at the end are small files, and no core is idle beside a long one.
    projects: [
      {
        extends: true,
        test: { name: 'apart', include: ['src/**/*.test.ts', 'test/**/*.test.ts'], exclude: together },
      },
      { extends: true, test: { name: 'together', include: together, isolate: false } },
    ],
  },
});
