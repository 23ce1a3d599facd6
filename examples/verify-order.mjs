// Verifies that an order proves a level, and shares nothing with Isolde: `node verify-order.mjs HISTORY.jsonl CERTIFICATE.json`.
// It covers certificates of `true` for serializable, repeatable read, snapshot and prefix, with or without the order of sessions or
// of real time, over histories in Elle's JSON lines in which every invocation has its completion (`isolde convert` writes them): the
// run is repeated, and every read must see what it saw. Not: refutations, levels below prefix, reads without a result.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Both as text. Throws what is wrong. */
export function verifyOrder(history, certificate) {
  const { valid, level, order } = JSON.parse(certificate);
  assert(valid && /(serializable|repeatable read|snapshot|prefix)$/.test(level), 'this verifies orders only');
  const exclusive = level.endsWith('snapshot');
  const twoSteps = exclusive || level.endsWith('prefix');
  const keepsSessions = /^str(ong|ict) /.test(level);
  const keepsTime = keepsSessions && !level.startsWith('strong session');
  const txs = [];
  const invoked = new Map();
  for (const line of history.trim().split('\n')) {
    const event = JSON.parse(line);
    const { process, type, value, time } = event;
    const { value: asked, time: start = -Infinity } = invoked.get(process) ?? {};
    if (type === 'invoke') invoked.set(process, event);
    else txs.push({ process, type, ops: value ?? asked, start, end: type === 'ok' ? time : Infinity });
  }
  const store = new Map(); // what each key holds: a value, or a list
  const writing = new Set(); // keys that open transactions write
  const last = new Map(); // the last transaction of each session
  let latestStart = -Infinity;
  const write = ([f, key, value], held, to) => to.set(key, f === 'w' ? value : [...(held ?? []), value]);
  for (const step of order) {
    const n = step < 0 ? -1 - step : step;
    const tx = txs[n] ?? { type: 'fail' };
    assert(tx.type !== 'fail', `transaction ${n} did not commit`);
    assert(tx.state === (step < 0 ? 'open' : undefined), `transaction ${n} comes twice`);
    const writes = tx.ops.filter(([f]) => f !== 'r');
    if (step >= 0) {
      const before = last.get(tx.process) ?? -1;
      assert(!keepsSessions || (before < n && txs[before]?.state !== 'open'), `${n} must follow ${before}`);
      last.set(tx.process, n);
      latestStart = Math.max(latestStart, tx.start);
      tx.state = 'open';
      const own = new Map();
      for (const op of tx.ops) {
        const seen = own.has(op[1]) ? own.get(op[1]) : store.get(op[1]);
        if (op[0] !== 'r') write(op, seen, own);
        else assert(tx.type !== 'ok' || text(seen) === text(op[2]), `${n} would not read ${text(op[2])}`);
      }
      assert(!exclusive || writes.every(([, key]) => !writing.has(key)), `${n} overwrites an open one`);
      for (const [, key] of writes) writing.add(key);
      if (twoSteps) continue;
    }
    for (const op of writes) write(op, store.get(op[1]), store);
    for (const [, key] of writes) writing.delete(key);
    tx.state = 'done';
    assert(!keepsTime || tx.end >= latestStart, `transaction ${n} ended before one began that comes first`);
  }
  assert(
    txs.every(({ type, state }) => state === 'done' || (type !== 'ok' && state !== 'open')),
    'one is missing',
  );
}

const text = (value) => JSON.stringify(value ?? []);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  verifyOrder(...process.argv.slice(2).map((file) => readFileSync(file, 'utf8')));
  console.log('accepted');
}
