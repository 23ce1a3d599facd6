/**
 * Findings about the server itself: it died, cut a connection, or never answered. No contract has to be read for these;
 * like all others they count only when a replay shows them again, so that a server somebody else stopped is not one.
 */

import { type ErrorClass, type History, type Operation, transactionNames } from '../../histories/index.js';
import { ofData, ofOperation, ofTransaction, say } from '../explanation.js';
import type { Finding, FindingKind } from '../finding.js';

export const gone: ReadonlySet<ErrorClass> = new Set(['connection-lost', 'crash']);

/** Whether the connection or the server went away in this history. */
export function wentAway({ operations }: History): boolean {
  return operations.some(({ error }) => error !== undefined && gone.has(error.class));
}

/** What happened to the server, if something did. */
export function serverFinding(history: History): Finding | undefined {
  const crash = history.operations.find(({ error }) => error?.class === 'crash');
  if (crash !== undefined) return describe('server-crash', crash, history, 'the server crashed');
  const silent = history.operations.find(({ end }) => end === null);
  if (silent !== undefined) return describe('no-answer', silent, history, 'the server never answered');
  const lost = history.operations.find(({ error }) => error?.class === 'connection-lost');
  if (lost !== undefined)
    return describe('connection-lost', lost, history, 'the server closed the connection');
  return undefined;
}

function describe(kind: FindingKind, at: Operation, history: History, what: string): Finding {
  const session = history.header.sessions[at.session] ?? String(at.session);
  const text = at.sql ?? at.kind;
  const name = transactionNames(history).get(at.transaction)!;
  return {
    kind,
    oracle: 'server',
    certainty: 'proved',
    rulesOut: [],
    clause: 'the server answers every statement',
    transactions: [{ id: at.transaction, name, session, status: 'unknown' }],
    operations: [{ index: at.index, transaction: at.transaction, text }],
    explanation: [
      say.contradiction`${ofTransaction(at.transaction)} ran ${ofOperation(at)}; ${what}.`,
      at.error === undefined
        ? say.fact`No answer came within the time limit.`
        : say.fact`The error was: ${ofData(at.error.message)}.`,
    ],
  };
}
