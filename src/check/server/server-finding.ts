/**
 * Findings about the server itself: it died, cut a connection, never answered, ran out of memory or took more and more of it. No
 * contract has to be read for these; like all others they count only when a replay shows them again with nothing else running, so that a
 * server somebody else stopped is not one.
 */

import { goneErrors, type History, type Operation } from '../../histories/index.js';
import { ofData, ofOperation, ofTransaction, say } from '../explanation.js';
import type { Finding, FindingKind } from '../finding.js';
import { findingAbout } from '../finding-about.js';

/** Whether the connection or the server went away in this history. */
export function wentAway({ operations }: History): boolean {
  return operations.some(({ error }) => error !== undefined && goneErrors.has(error.class));
}

/** What happened to the server, if something did. */
export function serverFinding(history: History): Finding | undefined {
  const crash = history.operations.find(({ error }) => error?.class === 'crash');
  if (crash !== undefined) return describe('server-crash', crash, history, 'the server crashed');
  const silent = history.operations.find(({ end }) => end === null);
  if (silent !== undefined) return describe('no-answer', silent, history, 'the server never answered');
  const lost = history.operations.find(({ error }) => error?.class === 'connection-lost');
  if (lost !== undefined && !history.operations.some(asksToClose))
    return describe('connection-lost', lost, history, 'the server closed the connection');
  const full = history.operations.find(({ error }) => error?.class === 'out-of-memory');
  if (full !== undefined) return describe('out-of-memory', full, history, 'the database ran out of memory');
  return undefined;
}

/**
 * Statements by which a session asks the server to close a connection, its own or another one: at the end of a transaction, at once, or
 * when nothing was said for some time.
 */
const closing =
  /^\s*(?:commit|rollback)\b(?![^;]*\bno\s+release\b)[^;]*\brelease\b|^\s*(?:kill|shutdown)\b|\bpg_terminate_backend\b|\b(?:completion_type|idle_\w*timeout|transaction_timeout|wait_timeout|interactive_timeout)\b/i;

function asksToClose({ sql = '' }: Operation): boolean {
  return closing.test(sql);
}

/** What the server's processes held for themselves before and after a run. */
export interface MemoryUse {
  readonly beforeBytes: number;
  readonly afterBytes: number;
}

const mebibyte = 2 ** 20;
/** Twice what servers set aside for pages of tables: no run of a few statements on a few rows fills that. */
const mostGrowthBytes = 256 * mebibyte;

/** A server that grew too much under a run. */
export function memoryFinding(history: History, { beforeBytes, afterBytes }: MemoryUse): Finding | undefined {
  const last = history.operations.at(-1);
  const grown = afterBytes - beforeBytes;
  if (last === undefined || grown <= mostGrowthBytes) return undefined;
  const [held, more] = [beforeBytes, grown].map((bytes) => `${Math.round(bytes / mebibyte)} MiB`);
  return describe(
    'memory-growth',
    last,
    history,
    `then the server held ${more} more than the ${held} before`,
  );
}

function describe(kind: FindingKind, at: Operation, history: History, what: string): Finding {
  return findingAbout(history, [at], {
    kind,
    oracle: 'server',
    clause: 'the server answers every statement',
    explanation: [
      say.contradiction`${ofTransaction(at.transaction)} ran ${ofOperation(at)}; ${what}.`,
      ...(at.end === null ? [say.fact`No answer came within the time limit.`] : []),
      ...(at.end !== null && at.error !== undefined
        ? [say.fact`The error was: ${ofData(at.error.message)}.`]
        : []),
    ],
  });
}
