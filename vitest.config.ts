import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Test files with a process each: they start servers, look for what processes leave, or replace modules, clocks and variables. */
const apart = [
  'test/**/*.test.ts',
  'src/{fleet,targets}/**/*.test.ts',
  'src/**/{engines-command,events,shared-credentials,taken-places}.test.ts',
];

export default defineConfig({
  // Examples import the package by its name.
  resolve: { alias: { 'isolde-db': fileURLToPath(new URL('src/index.ts', import.meta.url)) } },
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two cores run both the tests and the servers they start.
    maxWorkers: 2,
    reporters: ['default', './test/skip-reasons.ts'],
    // Most of the others are done before a process has loaded the sources: they share one (docs/decisions/ci-time.md). Vitest takes projects by
    // name, so small files come last, and no core is idle beside a long one.
    projects: [
      { extends: true, test: { name: 'apart', include: apart } },
      {
        extends: true,
        test: { name: 'together', include: ['src/**/*.test.ts'], exclude: apart, isolate: false },
      },
    ],
  },
});
