import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { behaviours } from './conformance.case.js';

it('has about forty behaviours, each named once, and the documentation lists exactly these', () => {
  const names = behaviours.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThanOrEqual(40);
  const page = readFileSync('docs/stages/targets.md', 'utf8');
  const section = page.slice(page.indexOf('## What every target'), page.indexOf('## Adding an engine'));
  expect([...section.matchAll(/^- (.+)$/gm)].map(([, name]) => name)).toEqual(names);
});
