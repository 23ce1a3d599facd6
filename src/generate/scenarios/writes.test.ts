import { expect, it } from 'vitest';
import { findCapabilities } from '../capabilities.js';
import { Random } from '../random.js';
import type { Scene } from './scene.js';
import { SceneWrites } from './writes.js';

function ifAbsent(target: string): string {
  const capabilities = findCapabilities(target)!;
  const { dialect } = capabilities;
  const scene = { dialect, capabilities, keyForm: 'int', unique: false } as unknown as Scene;
  return new SceneWrites(scene, new Random('writes')).insertIfAbsent(3, true);
}

it('inserts a row that is not there by a query in the words of the engine', () => {
  for (const target of ['hsqldb', 'derby'])
    expect(ifAbsent(target)).toMatch(
      /^INSERT .* SELECT [\d, ]+ FROM \(VALUES \(1\)\) AS d \(one\) WHERE NOT EXISTS/,
    );
  for (const target of ['h2', 'postgres', 'sqlite'])
    expect(ifAbsent(target)).toMatch(/^INSERT .* SELECT [\d, ]+ WHERE NOT EXISTS/);
  expect(ifAbsent('mysql')).toContain('FROM (SELECT 1 AS one) AS d WHERE NOT EXISTS');
});
