/**
 * Programs in which a statement waits on purpose: a blocker changes a row in one of several ways, once or more often, a waiter
 * then wants the row and has to wait (or is refused, in engines that do not wait), the blocker may change it again, and ends.
 * What the waiter does next, it does to a row that is another one by then.
 *
 * Every kind of waiting statement meets every way of changing and every way of ending: `waitPlans` lists them all, and programs
 * take them in turn; the kind of index is drawn.
 */
import { type Case, type Schedule, type StatementRef, totalOrder } from '../../cases/index.js';
import { beginForms } from '../begin-forms.js';
import type { Capabilities } from '../capabilities.js';
import type { Random } from '../random.js';
import { drawScene, hasIndex, type KeyForm, keyFormsOf, plannerSettings } from './scene.js';
import { SceneWrites } from './writes.js';

export const waiters = [
  'update',
  'update-by-value',
  'delete',
  'upsert',
  'merge',
  'insert',
  'insert-if-absent',
  'replace',
  'move',
  'lock',
] as const;
export type Waiter = (typeof waiters)[number];

/** What the blocker does to the row: before the waiter comes, and after it waits. */
export const changes = [
  'update',
  'update-twice',
  'update-around',
  'delete',
  'delete-insert',
  'move',
  'move-back',
  'insert',
] as const;
export type Change = (typeof changes)[number];

/** `deadlock`: the blocker wants a key that the waiter has inserted before, and one of the two must fail. */
export const endings = ['commit', 'rollback', 'rollback-to', 'deadlock'] as const;
export type Ending = (typeof endings)[number];

/** Deadlocks cost the time that an engine takes to notice them: they follow two of the changes. */
export const deadlockChanges: readonly Change[] = ['update', 'delete-insert'];

export interface WaitPlan {
  readonly waiter: Waiter;
  readonly change: Change;
  readonly ending: Ending;
}

/**
 * Every combination a target has statements for, in laps: each lap lets every waiting statement meet every ending, after another
 * change than the laps before, so that a short hunt has met all of these pairs.
 */
export function waitPlans({ unsupported }: Capabilities): readonly WaitPlan[] {
  const lacks = (feature: Capabilities['unsupported'][number]) => unsupported.includes(feature);
  const has: Partial<Readonly<Record<Waiter, boolean>>> = {
    upsert: !lacks('statement.upsert'),
    merge: !lacks('statement.merge'),
    replace: !lacks('statement.replace'),
    lock: !lacks('lock.update'),
  };
  const met = waiters
    .filter((waiter) => has[waiter] !== false)
    .flatMap((waiter) =>
      endings
        .filter((ending) => ending !== 'rollback-to' || !lacks('statement.savepoint'))
        .map((ending) => ({ waiter, ending, after: ending === 'deadlock' ? deadlockChanges : changes })),
    );
  return changes.flatMap((_, lap) =>
    met.flatMap(({ waiter, ending, after }, i) =>
      lap < after.length ? [{ waiter, change: after[(i + lap) % after.length]!, ending }] : [],
    ),
  );
}

/** Keys that a statement can name before the database has said them. */
const givenKeys: readonly KeyForm[] = ['int', 'integer', 'text'];

export interface WaitChain {
  readonly case: Pick<Case, 'setup' | 'sessions'>;
  readonly schedule: Schedule;
  readonly plan: WaitPlan;
}

/** `number`: which of the plans. */
export function drawWaitChain(random: Random, capabilities: Capabilities, number: number): WaitChain {
  const plans = waitPlans(capabilities);
  const plan = plans[number % plans.length]!;
  const keyForm = random.pick(keyFormsOf(capabilities).filter((form) => givenKeys.includes(form)));
  const scene = drawScene(random, capabilities, { keyForm });
  const writes = new SceneWrites(scene, random);
  const key = plan.change === 'insert' ? scene.rows + 1 : random.between(1, scene.rows);
  const [before, after] = blockerWrites(writes, plan.change, key);
  const waiting = waiterStatement(writes, plan.waiter, key);
  const savepoint = plan.ending === 'rollback-to' ? ['SAVEPOINT s'] : [];
  const deadlock = plan.ending === 'deadlock';
  const crossed = scene.rows + 40;
  const end = {
    commit: ['COMMIT'],
    rollback: ['ROLLBACK'],
    'rollback-to': ['ROLLBACK TO SAVEPOINT s', 'COMMIT'],
    deadlock: [writes.insert(crossed), 'COMMIT'],
  }[plan.ending];
  const settings = plannerSettings(scene, random);
  const begin = random.chance(0.8) ? 'BEGIN' : random.pick(beginForms(capabilities));
  const blocker = [...settings, 'BEGIN', ...savepoint, ...before, ...after, ...end];
  const autocommits = !deadlock && random.chance(0.2);
  const looks = [
    ...(!autocommits && random.chance(0.4) ? [writes.readAll()] : []),
    ...(deadlock ? [writes.insert(crossed)] : []),
  ];
  const settles = [
    ...(hasIndex(scene) ? [writes.readThroughIndex(100 * key)] : []),
    ...(random.chance(0.6) ? [writes.readAll()] : []),
  ];
  const waiter = autocommits
    ? [...settings, waiting, ...settles]
    : [...settings, begin, ...looks, waiting, ...settles, random.chance(0.85) ? 'COMMIT' : 'ROLLBACK'];
  // The waiter begins and looks, the blocker writes, the waiter waits, the blocker goes on and ends, the waiter goes on.
  const first = settings.length + (autocommits ? 0 : 1 + looks.length);
  const held = settings.length + 1 + savepoint.length + before.length;
  const order: StatementRef[] = [
    ...steps(1, 0, first),
    ...steps(0, 0, held),
    ...steps(1, first, first + 1),
    ...steps(0, held, blocker.length),
    ...steps(1, first + 1, waiter.length),
  ];
  const sessions = [
    { name: 'T1', statements: blocker },
    { name: 'T2', statements: waiter },
  ];
  return { case: { setup: scene.setup, sessions }, schedule: totalOrder(order), plan };
}

function steps(session: number, from: number, to: number): StatementRef[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i): StatementRef => [session, from + i]);
}

function blockerWrites(writes: SceneWrites, change: Change, key: number): readonly [string[], string[]] {
  const away = key + 10;
  switch (change) {
    case 'update':
      return [[writes.update(key)], []];
    case 'update-twice':
      return [[writes.update(key), writes.update(key)], []];
    case 'update-around':
      return [[writes.update(key)], [writes.update(key)]];
    case 'delete':
      return [[writes.delete(key)], []];
    case 'delete-insert':
      return [[writes.delete(key), writes.insert(key)], []];
    case 'move':
      return [[writes.move(key, away)], []];
    case 'move-back':
      return [[writes.move(key, away), writes.update(away)], [writes.move(away, key)]];
    case 'insert':
      return [[writes.insert(key)], []];
    default:
      return change satisfies never;
  }
}

function waiterStatement(writes: SceneWrites, waiter: Waiter, key: number): string {
  switch (waiter) {
    case 'update':
      return writes.update(key);
    case 'update-by-value':
      return writes.updateByValue(100 * key);
    case 'delete':
      return writes.delete(key);
    case 'upsert':
      return writes.upsert(key);
    case 'merge':
      return writes.merge(key);
    case 'insert':
      return writes.insert(key);
    case 'insert-if-absent':
      return writes.insertIfAbsent(key, writes.random.chance(0.5));
    case 'replace':
      return writes.replace(key);
    case 'move':
      return writes.move(key, key + 20);
    case 'lock':
      return writes.lock(key);
    default:
      return waiter satisfies never;
  }
}
