import { describe, expect, it } from 'vitest';
import type { Target } from '../targets/index.js';
import { contractAt, usualChoice, vendorContract, vendorContractAt } from './contract-choice.js';

const target = {
  name: 'mariadb',
  stamp: { name: 'mariadb', version: '10.11', settings: {} },
  levels: [
    { level: 'repeatable read', contract: 'mariadb:repeatable-read', begin: 'BEGIN' },
    { level: 'serializable', contract: 'mariadb:serializable', begin: 'BEGIN' },
    { level: 'snapshot', contract: 'mariadb:nobody-wrote-it', begin: 'BEGIN' },
  ],
} as unknown as Target;

describe('the contract at a level', () => {
  it.each([
    [usualChoice, 'repeatable read', 'mariadb:repeatable-read+reported'],
    ['vendor', 'repeatable read', 'mariadb:repeatable-read'],
    // Nothing was reported beyond the manual there.
    ['reported', 'serializable', 'mariadb:serializable'],
    ['adya', 'repeatable read', 'adya:PL-2.99'],
    ['adya', 'snapshot', 'adya:PL-SI'],
    ['ansi', 'serializable', 'ansi:serializable'],
    ['postgres:read-committed', 'serializable', 'postgres:read-committed'],
  ] as const)('%s at %s is %s', (choice, level, id) => {
    expect(contractAt(choice, target, level).id).toBe(id);
  });

  it.each([
    ['vendor', 'read committed', 'no contract is known for mariadb at read committed'],
    ['reported', 'snapshot', 'no contract is known for mariadb at snapshot'],
    ['ansi', 'snapshot', 'there is no ansi contract of snapshot'],
    ['nonsense', 'serializable', 'no contract is called "nonsense"; there are reported, vendor, adya, ansi'],
    ['toString', 'serializable', 'no contract is called "toString"'],
  ] as const)('%s at %s is none', (choice, level, message) => {
    expect(() => contractAt(choice, target, level)).toThrow(message);
  });

  it('of the vendor may be unknown, and then one has to be named', () => {
    expect(vendorContract(target, 'read committed')).toBeUndefined();
    expect(vendorContractAt(target, 'serializable').id).toBe('mariadb:serializable');
    expect(() => vendorContractAt(target, 'snapshot')).toThrow('--contract');
  });
});

const aria = {
  name: 'mariadb',
  stamp: { name: 'mariadb', version: '10.11', settings: { default_storage_engine: 'Aria' } },
  levels: [{ level: 'repeatable read', begin: 'BEGIN', contract: 'mariadb:repeatable-read+aria' }],
} as unknown as Target;

it.each([
  ['a hunt', () => contractAt('reported', aria, 'repeatable read')],
  ['who asks for the manual', () => contractAt('vendor', aria, 'repeatable read')],
  ['run --check', () => vendorContractAt(aria, 'repeatable read')],
])('%s is told which tables have no contract, and what it can do', (_, choose) => {
  expect(choose).toThrow(
    /mariadb promises at repeatable read for tables of Aria: .*no transactions.*--contract/,
  );
});

it('a theory is there for whoever asks for it', () => {
  expect(contractAt('adya', aria, 'repeatable read').id).toBe('adya:PL-2.99');
});
