/**
 * Linearizable registers, registers with compare-and-set, and mutexes, as Knossos checks them (`linearize.ts` has the search).
 *
 * - register: `write` v, `read` v, `nil` before the first write.
 * - cas-register: also `cas` [old new].
 * - mutex: `acquire` and `release`, free at first.
 *
 * Where all values are pairs `[key value]`, as Jepsen's independent tests have them, every key is an object of its own.
 *
 * A read of `nil` may say that the register is still empty, or that the client did not note what it read. If the history is
 * linearizable taken the first way it is; if not even the second way, it is not; in between nobody can say.
 */
import { type PlainOperation, type PlainValue, plainKey } from '../../histories/index.js';
import { counted } from '../../words.js';
import { type Linearization, linearize, type Model } from './linearize.js';
import { Collected, type Workload, type WorkloadResult } from './workload.js';

const isPair = (value: PlainValue): value is readonly [PlainValue, PlainValue] =>
  Array.isArray(value) && value.length === 2;

/** The value of a register; `nil` is its state before the first write. */
function registerModel(emptyReads: 'initial' | 'anything'): Model<string> {
  return {
    initial: 'nil',
    isRead: ({ f }) => f === 'read',
    isBlind: ({ f }) => f === 'write',
    key: (state) => state,
    needs({ f, value }) {
      if (f === 'cas') return plainKey(isPair(value) ? value[0] : null);
      return f !== 'read' || (value === null && emptyReads === 'anything') ? undefined : plainKey(value);
    },
    step(state, { f, value }) {
      if (f === 'write') return plainKey(value);
      if (f === 'read') {
        if (value === null && emptyReads === 'anything') return state;
        return plainKey(value) === state ? state : undefined;
      }
      const [old, next] = isPair(value) ? value : [null, null];
      return plainKey(old) === state ? plainKey(next) : undefined;
    },
  };
}

const mutexModel: Model<'free' | 'held'> = {
  initial: 'free',
  isRead: () => false,
  isBlind: () => false,
  key: (state) => state,
  step(state, { f }) {
    if (f === 'acquire') return state === 'free' ? 'held' : undefined;
    return state === 'held' ? 'free' : undefined;
  },
};

export const register: Workload = {
  name: 'register',
  title: 'one register is linearizable',
  functions: ['read', 'write'],
  fits: (operations) => isRegister(operations, ['read', 'write']),
  check: ({ operations }) => checkRegisters(operations),
};

export const casRegister: Workload = {
  name: 'cas-register',
  title: 'one register with compare-and-set is linearizable',
  functions: ['read', 'write', 'cas'],
  fits: (operations) => operations.some(({ f }) => f === 'cas'),
  check: ({ operations }) => checkRegisters(operations),
};

export const mutex: Workload = {
  name: 'mutex',
  title: 'a mutex is held by one at a time',
  functions: ['acquire', 'release'],
  fits: (operations) => operations.length > 0,
  check({ operations }) {
    const found = new Collected();
    const all = operations.map((_, at) => at);
    report(operations, linearize(operations, all, mutexModel), found, 'the mutex');
    if (!operations.some(({ status }) => status === 'ok'))
      found.unknownReasons.push('no operation succeeded');
    return found.result();
  },
};

function isRegister(operations: readonly PlainOperation[], functions: readonly string[]): boolean {
  const plain = (value: PlainValue): boolean => value === null || typeof value !== 'object';
  const writes = operations.filter(({ f }) => f === 'write');
  const keyed = writes.every(({ value }) => isPair(value) && plain(value[0]) && plain(value[1]));
  return (
    writes.length > 0 &&
    operations.every(({ f }) => functions.includes(f)) &&
    (keyed || operations.every(({ value }) => plain(value)))
  );
}

function checkRegisters(operations: readonly PlainOperation[]): WorkloadResult {
  const found = new Collected();
  const { objects, unkeyed } = byKey(operations);
  if (!operations.some(({ status }) => status === 'ok')) found.unknownReasons.push('no operation succeeded');
  for (const [key, which] of objects) {
    const object = key === '' ? 'the register' : `register ${key}`;
    const strict = linearize(unkeyed, which, registerModel('initial'));
    if (strict.outcome === 'linearizable') continue;
    const lenient = linearize(unkeyed, which, registerModel('anything'));
    if (lenient.outcome !== 'linearizable') report(unkeyed, lenient, found, object);
    else {
      found.unknownReasons.push(
        `${object} is linearizable only if reads of nil are reads without a recorded result`,
      );
    }
  }
  return found.result();
}

/** The operations of every key, and all of them without their keys. */
function byKey(operations: readonly PlainOperation[]): {
  objects: Map<string, number[]>;
  unkeyed: readonly PlainOperation[];
} {
  const changes = operations.filter(({ f }) => f === 'write' || f === 'cas');
  const keyed =
    changes.length > 0 &&
    changes.every(({ f, value }) => isPair(value) && (f === 'write' || isPair(value[1])));
  if (!keyed) return { objects: new Map([['', operations.map((_, at) => at)]]), unkeyed: operations };
  const objects = new Map<string, number[]>();
  const unkeyed = operations.map((operation, at): PlainOperation => {
    const pair = isPair(operation.value) ? operation.value : ([operation.value, null] as const);
    const key = plainKey(pair[0]);
    const object = objects.get(key);
    if (object === undefined) objects.set(key, [at]);
    else object.push(at);
    return { ...operation, value: pair[1] };
  });
  return { objects, unkeyed };
}

function report(
  operations: readonly PlainOperation[],
  result: Linearization,
  found: Collected,
  object: string,
): void {
  if (result.outcome === 'linearizable') return;
  if (result.outcome === 'unknown') {
    found.unknownReasons.push(`${object}: ${result.reason}`);
    return;
  }
  const { operation, open, states } = result;
  const { f, value } = operations[operation]!;
  const text = value === null && f !== 'read' ? f : `${f} ${plainKey(value)}`;
  const held = states.length === 1 ? `only ${states[0]}` : `only one of ${states.join(', ')}`;
  found.add({
    kind: 'not-linearizable',
    witnesses: [operation, ...open],
    rulesOut: ['strict serializable'],
    because: `after all that had ended before, ${object} could hold ${held}; from there no order of this operation and the ${counted(open.length, 'other')} that ${open.length === 1 ? 'was' : 'were'} open explains ${text}.`,
  });
}
