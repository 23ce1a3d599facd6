import { it } from 'vitest';
import { findContract } from '../contracts/index.js';
import { runFree, SessionPool } from '../execute/index.js';
import { openTarget } from '../targets/index.js';
import { inferSchedule } from './infer.js';
import { replay } from './replay.js';
import { randomCase } from './replay.test.js';
it('debug', async () => {
  const target = await openTarget(process.env.U!);
  const level = process.env.L as 'snapshot';
  const scratch = await target.createScratch();
  const sessions = new SessionPool(scratch, { statementTimeoutMs: 10000, lockTimeoutMs: 3000 });
  for (let seed = Number(process.env.SEED); seed < Number(process.env.SEED) + 10; seed++) {
  const h = await runFree(scratch, randomCase(seed, process.env.U !== 'duckdb:', process.env.U !== 'duckdb:'), { target, level, sessions });
  const o = inferSchedule(h, findContract(process.env.C!)!);
  const report = await replay(scratch, o, 'batch', { target, level, sessions });
  const d = report.firstDifference;
  if (d === undefined) continue;
  const of = new Map<number, number>();
  o.schedule.batches.forEach((b, n) => b.forEach(([s, p]) => of.set(o.sources[s]![p]!, n)));
  console.log('FIRST', JSON.stringify(d), o.notes, o.broken, o.unexplained);
  const op = h.operations[d.operation]!;
  const id = /id = (\d)/.exec(op.sql!)?.[1] ?? /VALUES \((\d)/.exec(op.sql!)?.[1] ?? 'x';
  const pos = o.sources[op.session]!.indexOf(d.operation);
  console.log('REF', op.session, pos);
  const txns = new Set(h.operations.filter((x) => x.transaction === op.transaction || new RegExp(`(id = ${id}|VALUES .${id}|v <)`).test(x.sql ?? '') && x.kind !== 'select').map((x) => x.transaction));
  console.log(h.operations.filter((x) => txns.has(x.transaction)).map((x) => [of.get(x.index)!, `b${String(of.get(x.index)).padStart(3)} S${x.session} ${(x.start/1e3).toFixed(0).padStart(6)}-${(x.end!/1e3).toFixed(0).padEnd(6)} ${x.transaction === op.transaction ? '*' : ' '}${x.sql} -> ${JSON.stringify(x.rows ?? x.matched ?? null)} ${x.error?.class ?? ''} ${x.ends ?? ''}`] as const).sort((a,b)=>a[0]-b[0]).map((x) => x[1]).join('\n'));
  for (const r of o.schedule.reasons!) if ((r.before[0] === op.session && Math.abs(r.before[1]-pos) < 4) || (r.after[0] === op.session && Math.abs(r.after[1]-pos) < 4)) console.log(JSON.stringify(r.before), '<', JSON.stringify(r.after), r.why);
  console.log(o.ambiguous.filter((a) => a.statement[0] === op.session));
  break;
  }
  await sessions.close(); await target.close();
}, 60000);
