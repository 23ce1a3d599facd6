/**
 * Programs in which sessions want the same keys: one key and one unique value are drawn for the program, taken or free, and
 * most statements of most sessions insert, insert if absent, free, move to, move away, replace or read it. Where the
 * database gives keys, explicit keys are drawn from those it will give next. Some transactions go on after a statement that fails,
 * and then read everything before they end.
 */
import { type Case, type Schedule, type StatementRef, totalOrder } from '../../cases/index.js';
import { beginForms } from '../begin-forms.js';
import type { Capabilities } from '../capabilities.js';
import type { Random } from '../random.js';
import { automatic, drawScene, hasIndex, plannerSettings, type Scene } from './scene.js';
import { SceneWrites } from './writes.js';

export interface KeyRace {
  readonly case: Pick<Case, 'setup' | 'sessions'>;
  /** The order it is about; absent: any. */
  readonly schedule?: Schedule;
}

export function drawKeyRace(random: Random, capabilities: Capabilities): KeyRace {
  const scene = drawScene(random, capabilities);
  const writes = new SceneWrites(scene, random);
  if (random.chance(0.35)) return drawSuccession(writes);
  // Taken, free, or the next one the database will give.
  const key = random.chance(0.4) ? random.between(1, scene.rows) : scene.rows + random.between(1, 2);
  const u = random.chance(0.4) ? 10 * random.between(1, scene.rows) : 500;
  const count = random.chance(0.75) ? 2 : 3;
  const settings = plannerSettings(scene, random);
  const reader = hasIndex(scene) ? random.below(count) : undefined;
  const sessions = Array.from({ length: count }, (_, s) => ({
    name: `T${s + 1}`,
    statements: [...settings, ...drawTransaction(writes, key, u, s === reader)],
  }));
  return { case: { setup: scene.setup, sessions } };
}

/** One transaction frees or takes a key, another one takes it before the first has ended, in whichever way. */
function drawSuccession(writes: SceneWrites): KeyRace {
  const { random, scene } = writes;
  const { capabilities } = scene;
  const key = random.between(1, scene.rows);
  const free = scene.rows + 1;
  const single = scene.keyForm !== 'composite';
  const twice = scene.unique && random.chance(0.35);
  const fresh = (at: number) => writes.insert(automatic(scene) ? undefined : at, 700);
  const [first, wanted] = twice
    ? [random.chance(0.5) ? fresh(free) : writes.claim(key, 700), free]
    : random.chance(0.7)
      ? [single && random.chance(0.3) ? writes.move(key, free + 5) : writes.delete(key), key]
      : [writes.insert(free), free];
  const ways: (() => string)[] = [
    () => writes.insert(wanted),
    () => writes.insert(wanted),
    () => writes.insertIfAbsent(wanted, !single || random.chance(0.5)),
    ...(single ? [() => writes.move(wanted === 1 ? 2 : 1, wanted)] : []),
    ...(single && !capabilities.unsupported.includes('statement.upsert')
      ? [() => writes.upsert(wanted)]
      : []),
  ];
  const settings = plannerSettings(scene, random);
  const one = [...settings, 'BEGIN', first, random.chance(0.5) ? 'ROLLBACK' : 'COMMIT'];
  const takes = twice ? fresh(free + 1) : random.pick(ways)();
  const reads = [
    ...(hasIndex(scene) ? [writes.readThroughIndex(100 * key)] : []),
    ...(random.chance(0.5) ? [writes.readAll()] : []),
  ];
  const body = [takes, ...reads];
  const two = [...settings, ...(random.chance(0.5) ? body : ['BEGIN', ...body, 'COMMIT'])];
  const at = two.indexOf(takes);
  const refs = (session: number, from: number, to: number) =>
    Array.from({ length: to - from }, (_, i): StatementRef => [session, from + i]);
  const order: StatementRef[] = [
    ...refs(1, 0, at),
    ...refs(0, 0, one.length - 1),
    [1, at],
    [0, one.length - 1],
    ...refs(1, at + 1, two.length),
  ];
  const sessions = [
    { name: 'T1', statements: one },
    { name: 'T2', statements: two },
  ];
  return { case: { setup: scene.setup, sessions }, schedule: totalOrder(order) };
}

/** `reads`: it also reads through the index. */
function drawTransaction(writes: SceneWrites, key: number, u: number, reads: boolean): string[] {
  const { random, scene } = writes;
  const { capabilities } = scene;
  const length = random.between(1, 3);
  const body = Array.from({ length }, (_, i) =>
    i === 0 && random.chance(0.5)
      ? [writes.insert(key, random.chance(0.5) ? u : undefined)]
      : drawStatement(writes, i === 0 || random.chance(0.6) ? key : random.between(1, 4), u),
  );
  if (reads) {
    const read = writes.readThroughIndex(100 * random.between(1, scene.rows));
    body.splice(random.below(body.length + 1), 0, [read]);
  }
  if (random.chance(0.2)) return body.flat();
  if (random.chance(0.3)) body.unshift([writes.readAll()]);
  // Where errors doom a transaction its savepoint must be set before anything else fails.
  if (random.chance(0.25)) {
    const failed = failure(writes, u, capabilities);
    if (capabilities.errorDoomsTransaction) body.unshift(...failed);
    else body.push(...failed);
  }
  if (random.chance(0.5)) body.push([writes.readAll()]);
  const begin = random.chance(0.8) ? 'BEGIN' : random.pick(beginForms(capabilities));
  return [begin, ...body.flat(), random.chance(0.8) ? 'COMMIT' : 'ROLLBACK'];
}

/** A statement that fails, and what comes after it. Where errors doom a transaction, a savepoint is set before it. */
function failure(
  writes: SceneWrites,
  u: number,
  { errorDoomsTransaction, unsupported }: Capabilities,
): string[][] {
  const { random, scene } = writes;
  const fails = writes.failing(random.between(1, scene.rows), u);
  const key = random.between(1, scene.rows);
  const after = [
    random.chance(0.5) ? writes.update(key) : writes.insert(automatic(scene) ? undefined : 40 + writes.rid()),
  ];
  if (!errorDoomsTransaction) return [[fails], after, [writes.readAll()]];
  if (unsupported.includes('statement.savepoint')) return [[fails], after];
  return [['SAVEPOINT s', fails, 'ROLLBACK TO SAVEPOINT s'], after, [writes.readAll()]];
}

/** By weight; what the engine or the table has nothing for weighs nothing. */
function drawStatement(writes: SceneWrites, key: number, u: number): string[] {
  const { random, scene } = writes;
  const { unsupported } = scene.capabilities;
  const has = (feature: Scene['capabilities']['unsupported'][number]) =>
    unsupported.includes(feature) ? 0 : 1;
  const single = scene.keyForm === 'composite' ? 0 : 1;
  const options: readonly (readonly [number, () => string | string[]])[] = [
    [12, () => writes.insert(key, random.chance(0.5) ? u : undefined)],
    [automatic(scene) ? 8 : 0, () => writes.insert(undefined, random.chance(0.5) ? u : undefined)],
    [
      scene.unique && single === 1 ? 6 : 0,
      () => writes.insert(automatic(scene) ? undefined : 50 + writes.rid(), u),
    ],
    [2, () => writes.insertTwo(key)],
    [4, () => writes.insertIfAbsent(key, scene.keyForm === 'composite' || random.chance(0.5))],
    [4, () => writes.delete(key)],
    [2 * single, () => writes.move(random.between(1, scene.rows), key)],
    [2 * single, () => writes.move(key, random.between(1, 5))],
    [scene.unique ? 5 : 0, () => writes.claim(random.between(1, scene.rows), u)],
    [scene.unique ? 1 : 0, () => `UPDATE t SET u = NULL WHERE u = ${u}`],
    [2, () => writes.update(key)],
    [3 * single * has('statement.upsert'), () => writes.upsert(key)],
    [
      scene.dialect === 'duckdb' && scene.unique ? 0 : single * has('statement.replace'),
      () => writes.replace(key),
    ],
    [single * has('statement.merge'), () => writes.merge(key)],
    [3, () => writes.readByKey(key)],
    [2, () => writes.readByValue(100 * random.between(1, scene.rows))],
    [has('lock.update'), () => writes.lock(key)],
    [1, () => writes.readAll()],
  ];
  const drawn = options[random.weighted(options.map(([weight]) => weight))!]![1]();
  return typeof drawn === 'string' ? [drawn] : drawn;
}
