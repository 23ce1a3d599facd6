/** Plans from seeds: the same every time, whole before anything is sent, and fit to be judged. */
import { describe, expect, it } from 'vitest';
import { findCapabilities } from '../generate/index.js';
import { parseStatement } from '../sql/index.js';
import { generatePlan } from './generate-plan.js';
import { type Plan, printPlan, resultsOf } from './interaction.js';
import { shippedProperties } from './shipped/index.js';

const targets = ['sqlite', 'duckdb', 'postgres', 'mysql'] as const;
const seeds = ['a', 'b', 'c', 'd', 'e', 'f'];

const planOf = (
  seed: string,
  target: (typeof targets)[number],
  more: { readonly length?: number } = {},
): Plan =>
  generatePlan(seed, {
    properties: shippedProperties,
    capabilities: findCapabilities(target)!,
    shadow: { pivot: 'first-statement', ddlCommits: target === 'mysql' },
    ...more,
  });

describe.each(targets)('a plan for %s', (target) => {
  const plans = seeds.map((seed) => planOf(seed, target));

  it('is the same for the same seed, and another for another', () => {
    for (const [i, seed] of seeds.entries())
      expect(printPlan(planOf(seed, target))).toBe(printPlan(plans[i]!));
    expect(new Set(plans.map(printPlan)).size).toBe(seeds.length);
  });

  it('has statements that we can read', () => {
    for (const { interactions } of plans)
      for (const each of interactions) {
        if (each.type !== 'statement') continue;
        const statement = parseStatement(each.sql, findCapabilities(target)!.dialect);
        const reason = statement.type === 'opaque' ? `${each.sql}: ${statement.reason}` : '';
        // What an engine alone understands (maintenance, PRAGMA) is opaque by design.
        if (!/^(VACUUM|CHECKPOINT|ANALYZE|PRAGMA|SET)\b/i.test(each.sql)) expect(reason).toBe('');
      }
  });

  it('numbers statements in the order they are sent, and judges only what was sent before', () => {
    for (const { interactions } of plans) {
      const sent: number[] = [];
      for (const each of interactions) {
        if (each.type === 'statement') {
          expect(each.id).toBeGreaterThan(sent.at(-1) ?? -1);
          sent.push(each.id);
        } else if (each.type !== 'fault')
          for (const id of resultsOf(each.check))
            expect(sent, printPlan({ seed: '', interactions, properties: new Map() })).toContain(id);
      }
    }
  });

  it('keeps the interactions of a group together, and names the property of every assertion', () => {
    for (const { interactions, properties } of plans) {
      const order = interactions.map(({ group }) => group).filter((group, i, all) => group !== all[i - 1]);
      expect(order.length).toBe(new Set(order).size);
      for (const each of interactions)
        if (each.type === 'assert') expect(properties.has(each.group)).toBe(true);
    }
  });

  it('creates a table before it uses it', () => {
    for (const { interactions } of plans) {
      const [first] = interactions;
      expect(first?.type === 'statement' && first.sql).toMatch(/^CREATE TABLE/);
    }
  });

  it('is about as long as asked', () => {
    for (const length of [20, 100]) {
      const { interactions } = planOf('length', target, { length });
      expect(interactions.length).toBeGreaterThanOrEqual(length * 0.8);
      expect(interactions.length).toBeLessThan(length + 60);
    }
  });
});

it('without properties has statements and predicted reads alone', () => {
  const { interactions, properties } = generatePlan('x', {
    properties: [],
    capabilities: findCapabilities('sqlite')!,
    shadow: { pivot: 'first-statement', ddlCommits: false },
  });
  expect(new Set(properties.values())).toEqual(new Set(['predicted read']));
  for (const each of interactions) if (each.type === 'assert') expect(each.check.type).toBe('predicted');
});

it('asserts nothing of single reads where it may not', () => {
  const { interactions } = generatePlan('x', {
    properties: [],
    capabilities: findCapabilities('sqlite')!,
    shadow: { pivot: 'first-statement', ddlCommits: false },
    judgeReads: false,
  });
  expect(interactions.some(({ type }) => type === 'assert')).toBe(false);
});
