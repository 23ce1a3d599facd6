import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Examples import the package by its name.
  resolve: { alias: { 'isolde-db': fileURLToPath(new URL('src/index.ts', import.meta.url)) } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two cores run both the tests and the servers they start.
    maxWorkers: 2,
  },
});
