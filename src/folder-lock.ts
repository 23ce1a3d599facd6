/**
 * One writer at a time. The lock is a file that names its holder; it is made as a hard link to a file already written,
 * so it is never half there. Writers hold it for the time of one change.
 *
 * A lock is stale when its holder no longer lives on this host, or when it is older than any change takes (a process of
 * another host, or a number that was given to another process). Breaking a stale lock is itself done under a lock, and
 * looks again first: two who find the same stale lock must not break each other's new one.
 */
import { link, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { IsoldeError } from './errors.js';
import { codeOf, fileProblem } from './file-problem.js';
import { isRunning } from './running.js';

export interface LockOptions {
  /** How long to wait for another writer. */
  readonly waitMs?: number;
  /** The age from which a lock is stale whoever holds it. */
  readonly staleMs?: number;
}

let counter = 0;

/** Runs `work` while holding the lock of a folder. */
export async function withLock<T>(folder: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const lock = join(folder, 'lock');
  const mine = join(folder, `lock.${process.pid}.${counter++}`);
  try {
    await writeFile(mine, JSON.stringify({ pid: process.pid, host: hostname() }), { flag: 'wx' });
  } catch (error) {
    throw fileProblem('write', mine, error);
  }
  try {
    await acquire(lock, mine, options);
    try {
      await sweep(folder);
      return await work();
    } finally {
      await rm(lock, { force: true });
    }
  } finally {
    await rm(mine, { force: true });
  }
}

/** Removes what writers left that died while they held or awaited the lock. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!/^lock\.\d+\.\d+$/.test(name)) continue;
    const waiter = await readHolder(join(folder, name));
    if (waiter?.host === hostname() && !isRunning(waiter.pid)) await rm(join(folder, name), { force: true });
  }
}

async function acquire(lock: string, mine: string, { waitMs = 15_000, staleMs = 60_000 }: LockOptions) {
  const giveUpAt = performance.now() + waitMs;
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    try {
      await link(mine, lock);
      return;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw fileProblem('write', lock, error);
    }
    if (await isStale(lock, staleMs)) await breakLock(lock, staleMs);
    else if (performance.now() > giveUpAt) {
      throw new IsoldeError(
        'file-system',
        `another process has been writing here for ${Math.round(waitMs / 1000)} s (${await holderText(lock)}); if that is not so, remove ${lock}`,
      );
    } else await new Promise((resolve) => setTimeout(resolve, pauseMs + Math.random() * pauseMs));
  }
}

async function isStale(lock: string, staleMs: number): Promise<boolean> {
  const holder = await readHolder(lock);
  if (holder === undefined) return false;
  if (Date.now() - holder.since > staleMs) return true;
  return holder.host === hostname() && !isRunning(holder.pid);
}

async function breakLock(lock: string, staleMs: number): Promise<void> {
  const breaking = `${lock}.breaking`;
  try {
    await (await open(breaking, 'wx')).close();
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw fileProblem('write', breaking, error);
    // Somebody breaks it just now, or died while doing so.
    const about = await stat(breaking).catch(() => undefined);
    if (about !== undefined && Date.now() - about.mtimeMs > staleMs) await rm(breaking, { force: true });
    return;
  }
  try {
    if (await isStale(lock, staleMs)) await rm(lock, { force: true });
  } finally {
    await rm(breaking, { force: true });
  }
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly since: number;
}

async function readHolder(lock: string): Promise<Holder | undefined> {
  try {
    const [text, about] = [await readFile(lock, 'utf8'), await stat(lock)];
    const since = about.ctimeMs;
    try {
      const { pid, host } = JSON.parse(text) as { pid?: unknown; host?: unknown };
      if (typeof pid === 'number' && typeof host === 'string') return { pid, host, since };
    } catch {
      // Not one of ours: only its age can make it stale.
    }
    return { pid: 0, host: '', since };
  } catch {
    return undefined;
  }
}

async function holderText(lock: string): Promise<string> {
  const holder = await readHolder(lock);
  return holder === undefined
    ? 'it has just ended'
    : `process ${holder.pid} on ${holder.host || 'an unknown host'}`;
}
