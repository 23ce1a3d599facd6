/** The workloads, in the order in which operations are tried against them: the first that fits is meant. */
import type { PlainOperation } from '../../histories/index.js';
import { bank } from './bank.js';
import { comments } from './comments.js';
import { counter } from './counter.js';
import { longFork } from './long-fork.js';
import { casRegister, mutex, register } from './register.js';
import { sequential } from './sequential.js';
import { set } from './set.js';
import { setFull } from './set-full.js';
import type { Workload } from './workload.js';

export const workloads: readonly Workload[] = [
  bank,
  mutex,
  casRegister,
  set,
  setFull,
  counter,
  sequential,
  comments,
  register,
  longFork,
];

/** The workload that operations are unmistakably of. */
export function recognizeWorkload(operations: readonly PlainOperation[]): Workload | undefined {
  return workloads.find(
    (workload) =>
      workload.ofTransactions !== true &&
      operations.every(({ f }) => workload.functions.includes(f)) &&
      workload.fits(operations),
  );
}
