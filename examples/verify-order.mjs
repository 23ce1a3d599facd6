// Verifies that an order proves a level, and shares nothing with Isolde: `node verify-order.mjs HISTORY.jsonl CERTIFICATE.json`.
// The history is in Elle's JSON lines (`isolde convert` writes them), the level is serializable, repeatable read, snapshot or
// prefix, with or without the order of sessions or real time: the run is repeated, and every read must see what it saw.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Both as text. Throws what is wrong. */
export function verifyOrder(history, certificate) {
  const { valid, level, order } = JSON.parse(certificate);
  const reject = (why) => {
    throw new Error(why);
  };
  const base = /(serializable|repeatable read|snapshot|prefix)$/.exec(level)?.[1];
  if (!valid || base === undefined) reject(`this verifies orders, not ${valid ? level : 'refutations'}`);
  const twoSteps = base === 'snapshot' || base === 'prefix';
  const keepsSessions = /^str(ong|ict) /.test(level);
  const keepsTime = keepsSessions && !level.startsWith('strong session');

  const txs = [];
  const open = new Map();
  const add = (process, status, ops, end) => {
    txs.push({ session: process, status, ops, start: open.get(process)?.time ?? -Infinity, end });
    open.delete(process);
  };
  for (const line of history.trim().split('\n')) {
    const { type, process, value, time } = JSON.parse(line);
    if (open.has(process) && type === 'invoke') add(process, 'info', open.get(process).value, Infinity);
    if (type === 'invoke') open.set(process, { value, time });
    else add(process, type, value ?? open.get(process).value, type === 'ok' ? time : Infinity);
  }
  for (const [process, { value }] of [...open]) add(process, 'info', value, Infinity);

  const store = new Map(); // what each key holds: a value, or a list
  const writing = new Set(); // keys that open transactions write
  const state = txs.map(() => 'not begun');
  const last = new Map(); // the last transaction of each session
  let latestStart = -Infinity;
  const text = (value) => JSON.stringify(value ?? []);
  for (const step of order) {
    const n = step < 0 ? -1 - step : step;
    const { session, status, ops, start, end } = txs[n] ?? reject(`there is no transaction ${n}`);
    if (status === 'fail') reject(`transaction ${n} aborted`);
    if (state[n] !== (step < 0 ? 'open' : 'not begun')) reject(`transaction ${n} comes twice`);
    if (step >= 0) {
      const before = last.get(session);
      if (keepsSessions && before !== undefined && (before > n || state[before] === 'open'))
        reject(`session ${session}`);
      last.set(session, n);
      latestStart = Math.max(latestStart, start);
      state[n] = 'open';
      const own = new Map();
      for (const [f, key, value] of ops) {
        const seen = own.has(key) ? own.get(key) : store.get(key);
        if (f === 'w') own.set(key, value);
        else if (f === 'append') own.set(key, [...(seen ?? []), value]);
        else if (status === 'ok' && text(seen) !== text(value))
          reject(`transaction ${n} would not read ${text(value)}`);
      }
      if (base === 'snapshot' && [...own.keys()].some((key) => writing.has(key)))
        reject(`${n} overwrites an open one`);
      for (const key of own.keys()) writing.add(key);
    }
    if (step >= 0 && twoSteps) continue;
    for (const [f, key, value] of ops) {
      if (f === 'w') store.set(key, value);
      else if (f === 'append') store.set(key, [...(store.get(key) ?? []), value]);
      if (f !== 'r') writing.delete(key);
    }
    state[n] = 'done';
    if (keepsTime && end < latestStart)
      reject(`transaction ${n} ended before another began that comes first`);
  }
  const missing = txs.findIndex(
    ({ status }, n) => state[n] === 'open' || (status === 'ok' && state[n] !== 'done'),
  );
  if (missing >= 0) reject(`transaction ${missing} is missing`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  verifyOrder(...process.argv.slice(2).map((file) => readFileSync(file, 'utf8')));
  console.log('accepted');
}
