// The toy engine behind Isolde's exec protocol (docs/formats/exec-protocol.md): one JSON object a line, in and out.
import { createInterface } from 'node:readline';
import { dialect, execute } from './toy-engine.mjs';

const scratches = new Map(); // namespace → tables
const sessions = new Map(); // number → tables
const levels = [{ level: 'serializable', contract: 'sqlite:serializable+wal', begin: 'BEGIN' }];
const features = {
  conflicts: 'fail',
  counts: 'matched',
  lockingReads: false,
  savepoints: false,
  errorDoomsTransaction: false,
  transactionalDdl: true,
  cancel: false,
  maxSessions: 1,
};
const answers = {
  hello: () => ({ name: 'toy', version: '0.0.1', dialect, levels, defaultLevel: 'serializable', features }),
  createScratch: ({ namespace }) => void scratches.set(namespace, new Map()),
  dropScratch: ({ namespace }) => void scratches.delete(namespace),
  openSession: ({ namespace, session }) => void sessions.set(session, scratches.get(namespace)),
  waiting: () => ({ sessions: [] }),
  execute: ({ session, sql }) => ({ ...execute(sessions.get(session), sql), transaction: 'none' }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, op, ...fields } = JSON.parse(line);
  let ok;
  try {
    ok = answers[op]?.(fields) ?? {};
  } catch (error) {
    ok = { transaction: 'none', error: { class: error.kind ?? 'other', message: error.message } };
  }
  process.stdout.write(`${JSON.stringify({ id, ok })}\n`);
}
