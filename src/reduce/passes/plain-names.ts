/**
 * Gives plain names: sessions are T1, T2, … in the order they appear, tables `t`, `u`, `w`, columns `a`, `b`, `c`. All at once,
 * then one at a time.
 */
import type { StatementRef } from '../../cases/index.js';
import { nameKey, tokenize, writtenNameKey } from '../../sql/index.js';
import type { Candidate } from '../candidate.js';
import { mapSchedule } from '../case-model.js';
import { definedNames, plainName, plainSession } from './names.js';
import { type Pass, type PassContext, withSql } from './pass.js';

export const plainNames: Pass = {
  name: 'plain names',
  proposals(current, context) {
    const { tables, columns } = definedNames(current.case, context.dialect);
    const key = (name: string) => nameKey(name, context.dialect);
    const taken = new Set([...tables, ...columns].map(key));
    const renamed = new Map<string, string>();
    const give = (names: readonly string[], letters: string) => {
      const free = [...letters].filter((letter) => !taken.has(letter));
      for (const name of names) {
        if (plainName.test(name) || renamed.has(key(name))) continue;
        const letter = free.shift();
        if (letter !== undefined) renamed.set(key(name), letter);
      }
    };
    give(tables, 'tuwxyz');
    give(columns, 'abcdefghijklmnop');
    return [
      () => withPlainSessions(current),
      ...(renamed.size === 0 ? [] : [() => withNames(current, renamed, context)]),
      ...[...renamed].map((one) => () => withNames(current, new Map([one]), context)),
    ];
  },
};

function withNames(
  current: Candidate,
  renamed: ReadonlyMap<string, string>,
  { dialect }: PassContext,
): Candidate {
  return withSql(current, (sql) =>
    tokenize(sql, dialect)
      .map(({ kind, text }) => {
        if (kind !== 'word' && kind !== 'quoted') return text;
        return renamed.get(writtenNameKey(text, dialect)) ?? text;
      })
      .join(''),
  );
}

function withPlainSessions(current: Candidate): Candidate {
  const appearance = [...new Set(current.schedule.batches.flat().map(([s]) => s))];
  const moved = ([s, p]: StatementRef): StatementRef => [appearance.indexOf(s), p];
  const sessions = appearance.map((s, i) => ({
    ...current.case.sessions[s]!,
    name: plainSession(current.case.sessions[s]!.name, i),
  }));
  return { case: { ...current.case, sessions }, schedule: mapSchedule(current.schedule, moved) };
}
