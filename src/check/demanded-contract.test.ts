import { describe, expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import type { HistoryHeader } from '../histories/index.js';
import { demandedContract } from './demanded-contract.js';

const header = (name: string | undefined, level: HistoryHeader['level'], settings?: Record<string, string>) =>
  ({ level, ...(name && { target: { name, version: '', settings } }) }) as HistoryHeader;

describe('the contract of a recorded SQL history', () => {
  it('is the one that was asked for, whatever ran it', () => {
    const contract = findContract('postgres:serializable')!;
    expect(demandedContract(header('mariadb', 'repeatable read'), { contract })).toBe(contract);
  });

  it('is the vendor’s at the level that the history names, or at the one that was asked for', () => {
    const of = (...args: Parameters<typeof demandedContract>) => demandedContract(...args).id;
    expect(of(header('postgres', 'repeatable read'), {})).toBe('postgres:repeatable-read');
    expect(of(header('postgres', 'repeatable read'), { level: 'serializable' })).toBe(
      'postgres:serializable',
    );
    expect(of(header('tidb', 'repeatable read', { tidb_txn_mode: 'pessimistic' }), {})).toBe(
      'tidb:repeatable-read',
    );
  });

  it.each([
    [
      header('tidb', 'repeatable read'),
      'the history names tidb at repeatable read, but not tidb_txn_mode; name the contract: --contract tidb:repeatable-read (tidb_txn_mode = pessimistic)',
    ],
    [
      header('mariadb', 'repeatable read', { default_storage_engine: 'Aria' }),
      'no contract says what mariadb promises at repeatable read for tables of Aria',
    ],
    [
      header('nosuch', 'serializable'),
      'the history names nosuch at serializable, for which there is no contract',
    ],
    [header(undefined, 'serializable'), 'the history names no database, for which there is no contract'],
  ])('is asked for where it is not clear (%#)', (from, message) => {
    expect(() => demandedContract(from, {})).toThrow(message);
  });
});
