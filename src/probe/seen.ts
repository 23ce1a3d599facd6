/**
 * What the sessions of a probe case saw, looked up by session name and by the how-manieth SELECT or write it
 * was. Only judged runs get here, so every statement is present and worked; an answer in a form the question
 * cannot use (a count the engine does not report, a value that is no integer) raises `Unclear`.
 */
import { type History, type Operation, sessionNumber } from '../histories/index.js';

/** The run went through, but its answers do not settle the question. */
export class Unclear extends Error {}

/** Rows of `SELECT id, value`: value by id. */
export type SeenRows = ReadonlyMap<number, number>;

export interface Seen {
  /** The nth SELECT of a session, from 1. */
  rows(session: string, nth?: number): SeenRows;
  /** How many rows the nth UPDATE, DELETE or INSERT of a session says it touched, from 1. */
  count(session: string, nth?: number): number;
}

const writes = new Set(['insert', 'update', 'delete']);

/** The view of a history that questions are asked of. */
export function seenIn(history: History): Seen {
  const operationsOf = (session: string, wanted: (operation: Operation) => boolean) => {
    const number = sessionNumber(history.header, session);
    return history.operations.filter((operation) => operation.session === number && wanted(operation));
  };
  return {
    rows(session, nth = 1) {
      const operation = operationsOf(session, ({ kind }) => kind === 'select')[nth - 1];
      if (operation?.rows === undefined) throw new Unclear(`SELECT ${nth} of ${session} returned no rows`);
      return new Map(
        operation.rows.map((row) => {
          const [id, value] = row;
          if (!Number.isInteger(id) || !Number.isInteger(value)) {
            throw new Unclear(
              `SELECT ${nth} of ${session} returned ${JSON.stringify(row)} where two integers were expected`,
            );
          }
          return [id as number, value as number];
        }),
      );
    },
    count(session, nth = 1) {
      const operation = operationsOf(session, ({ kind }) => writes.has(kind))[nth - 1];
      const count = operation?.matched ?? operation?.changed;
      if (count === undefined) {
        throw new Unclear(`the engine does not say how many rows write ${nth} of ${session} touched`);
      }
      return count;
    },
  };
}

/** Rows as people write them. */
export function showRows(rows: SeenRows): string {
  if (rows.size === 0) return 'no rows';
  return [...rows]
    .sort(([a], [b]) => a - b)
    .map(([id, value]) => `(${id}, ${value})`)
    .join(' ');
}
