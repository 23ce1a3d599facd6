import { expect, it } from 'vitest';
import { parseScript } from './script.js';
import { spellBegins } from './spell-begins.js';

it('changes plain BEGINs and nothing else', () => {
  const begins = ['BEGIN', 'begin transaction', 'START TRANSACTION', 'BEGIN IMMEDIATE', 'BEGIN READ ONLY'];
  const lines = begins.flatMap((begin) => [`T1: ${begin}`, "T1: SELECT 'BEGIN' FROM t", 'T1: COMMIT']);
  const { case: program } = parseScript(['CREATE TABLE t (v INT);', ...lines].join('\n'), { file: 'x' });
  const spelt = spellBegins(program, 'BEGIN CONCURRENT');
  expect({ ...spelt, sessions: [] }).toEqual({ ...program, sessions: [] });
  const changed = ['BEGIN CONCURRENT', 'BEGIN CONCURRENT', 'BEGIN CONCURRENT', ...begins.slice(3)];
  expect(spelt.sessions[0]!.statements).toEqual(
    changed.flatMap((begin) => [begin, "SELECT 'BEGIN' FROM t", 'COMMIT']),
  );
});
