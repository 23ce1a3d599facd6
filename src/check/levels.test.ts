import { describe, expect, it } from 'vitest';
import {
  checkLevels,
  implies,
  levelUnder,
  orderOf,
  parseCheckLevel,
  ruledOut,
  strongestOf,
  weakestOf,
  withOrder,
} from './levels.js';

describe('the lattice of levels', () => {
  it('has one weakest and one strongest level', () => {
    for (const level of checkLevels) {
      expect(implies(level, 'read uncommitted')).toBe(true);
      expect(implies('strict serializable', level)).toBe(true);
    }
  });

  it('lists every level after those it implies, and never one equal to another', () => {
    checkLevels.forEach((level, i) => {
      for (const other of checkLevels.slice(i + 1)) expect(implies(level, other)).toBe(false);
    });
  });

  it('keeps apart what theory keeps apart', () => {
    expect(implies('snapshot', 'repeatable read')).toBe(false);
    expect(implies('repeatable read', 'snapshot')).toBe(false);
    expect(implies('serializable', 'causal')).toBe(false);
    expect(implies('strong session snapshot', 'causal')).toBe(true);
    expect(implies('prefix', 'cursor stability')).toBe(false);
  });

  it('rules out everything above what is broken', () => {
    expect(ruledOut(['snapshot']).has('serializable')).toBe(true);
    expect(ruledOut(['snapshot']).has('repeatable read')).toBe(false);
    expect(strongestOf(checkLevels.filter((level) => !ruledOut(['snapshot']).has(level)))).toContain(
      'strong repeatable read',
    );
    expect(weakestOf(['serializable', 'snapshot', 'repeatable read'])).toEqual([
      'snapshot',
      'repeatable read',
    ]);
  });

  it('finds the variant that keeps an order', () => {
    expect(withOrder('serializable', 'real-time')).toBe('strict serializable');
    expect(withOrder('snapshot', 'session')).toBe('strong session snapshot');
    expect(withOrder('read atomic', 'session')).toBe('read atomic');
    for (const level of checkLevels) expect(implies(withOrder(level, 'real-time'), level)).toBe(true);
    expect(orderOf(withOrder('causal', 'real-time'))).toBe('real-time');
  });

  it('means by a name what its users mean by it', () => {
    expect(levelUnder('read committed', 'adya')).toBe('read committed');
    expect(levelUnder('read committed', 'axiomatic')).toBe('monotonic atomic view');
    expect(levelUnder('snapshot', 'axiomatic')).toBe('strong session snapshot');
    expect(levelUnder('serializable', 'axiomatic')).toBe('strong session serializable');
    expect(levelUnder('strict serializable', 'axiomatic')).toBe('strict serializable');
  });

  it('reads the names people write', () => {
    expect(parseCheckLevel('Strict-Serializable')).toBe('strict serializable');
    expect(parseCheckLevel('SI')).toBe('snapshot');
    expect(parseCheckLevel('strong_session_snapshot-isolation')).toBe('strong session snapshot');
    expect(() => parseCheckLevel('constructor')).toThrow(
      'unknown level "constructor"; known levels: read uncommitted',
    );
  });
});
