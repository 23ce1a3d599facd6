/** Transaction control: what begins, ends and marks transactions in each dialect. */
import { describe, expect, it } from 'vitest';
import { classifyStatement } from '../classify.js';
import type { Dialect } from '../dialect.js';
import { printStatement } from '../print/print.js';
import { parseStatement } from './parse.js';

describe('transaction control', () => {
  it.each<[sql: string, tree: object, printed: string]>([
    ['BEGIN', { type: 'begin', start: false }, 'BEGIN'],
    ['begin work', { type: 'begin', start: false }, 'BEGIN'],
    ['BEGIN TRANSACTION;', { type: 'begin', start: false }, 'BEGIN'],
    ['START TRANSACTION', { type: 'begin', start: true }, 'START TRANSACTION'],
    [
      'begin isolation level repeatable read',
      { type: 'begin', start: false, modifiers: 'ISOLATION LEVEL REPEATABLE READ' },
      'BEGIN ISOLATION LEVEL REPEATABLE READ',
    ],
    [
      'START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY',
      { type: 'begin', start: true, modifiers: 'ISOLATION LEVEL SERIALIZABLE, READ ONLY' },
      'START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY',
    ],
    ['BEGIN IMMEDIATE', { type: 'begin', start: false, modifiers: 'IMMEDIATE' }, 'BEGIN IMMEDIATE'],
    [
      'BEGIN EXCLUSIVE TRANSACTION',
      { type: 'begin', start: false, modifiers: 'EXCLUSIVE' },
      'BEGIN EXCLUSIVE',
    ],
    ['BEGIN CONCURRENT', { type: 'begin', start: false, modifiers: 'CONCURRENT' }, 'BEGIN CONCURRENT'],
    ['COMMIT', { type: 'commit' }, 'COMMIT'],
    ['commit work', { type: 'commit' }, 'COMMIT'],
    ['END TRANSACTION', { type: 'commit' }, 'COMMIT'],
    ['COMMIT AND CHAIN', { type: 'commit', modifiers: 'AND CHAIN' }, 'COMMIT AND CHAIN'],
    ['ROLLBACK', { type: 'rollback' }, 'ROLLBACK'],
    ['ABORT', { type: 'rollback' }, 'ROLLBACK'],
    ['ROLLBACK TRANSACTION', { type: 'rollback' }, 'ROLLBACK'],
    ['ROLLBACK AND NO CHAIN', { type: 'rollback', modifiers: 'AND NO CHAIN' }, 'ROLLBACK AND NO CHAIN'],
    ['SAVEPOINT s1', { type: 'savepoint', name: 's1' }, 'SAVEPOINT s1'],
    ['savepoint "S 1"', { type: 'savepoint', name: 'S 1' }, 'SAVEPOINT "S 1"'],
    ['RELEASE s1', { type: 'release', name: 's1' }, 'RELEASE SAVEPOINT s1'],
    ['RELEASE SAVEPOINT s1', { type: 'release', name: 's1' }, 'RELEASE SAVEPOINT s1'],
    ['ROLLBACK TO s1', { type: 'rollback-to', name: 's1' }, 'ROLLBACK TO SAVEPOINT s1'],
    ['ROLLBACK WORK TO SAVEPOINT s1', { type: 'rollback-to', name: 's1' }, 'ROLLBACK TO SAVEPOINT s1'],
    ['ROLLBACK TRANSACTION TO s1', { type: 'rollback-to', name: 's1' }, 'ROLLBACK TO SAVEPOINT s1'],
  ])('%s', (sql, tree, printed) => {
    const statement = parseStatement(sql, 'postgres');
    expect(statement).toEqual(tree);
    expect(printStatement(statement, 'postgres')).toBe(printed);
    expect(parseStatement(printed, 'postgres')).toEqual(tree);
  });

  it.each<[sql: string, dialect: Dialect]>([
    ['SAVEPOINT', 'postgres'],
    ['SAVEPOINT a b', 'postgres'],
    ['ROLLBACK TO', 'postgres'],
    ['RELEASE', 'sqlite'],
    ['START SLAVE', 'mysql'],
    ['START', 'mysql'],
    ['BEGIN NOT ATOMIC COMMIT; END', 'mysql'],
  ])('%s in %s is not one', (sql, dialect) => {
    expect(parseStatement(sql, dialect).type).toBe('opaque');
  });

  it('is what the classification by words says it is', () => {
    const texts = [
      'BEGIN',
      'START TRANSACTION READ ONLY',
      'COMMIT',
      'END',
      'ROLLBACK',
      'ABORT WORK',
      'SAVEPOINT a',
      'RELEASE SAVEPOINT a',
      'ROLLBACK TO a',
    ];
    for (const sql of texts) expect(parseStatement(sql, 'postgres').type).toBe(classifyStatement(sql).kind);
  });
});
