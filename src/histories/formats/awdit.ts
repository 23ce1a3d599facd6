/** AWDIT's test format: `w key value` and `r key value`, a line of dashes between transactions, of equals signs between sessions. */
import { FileError } from '../../errors.js';
import { KvBuilder } from '../kv-builder.js';
import type { FormatInput, Imported } from './format.js';
import { MicroOps, settleMarkers } from './micro-ops.js';
import { addRegisterOp, shown, textName } from './plume.js';
import { eachLine } from './whole-file.js';

export async function readAwdit(input: FormatInput): Promise<Imported> {
  const builder = new KvBuilder({ definitions: 'axiomatic' });
  const ops = new MicroOps();
  let session = 0;
  const close = (): void => {
    if (ops.length === 0) return;
    builder.begin(session);
    ops.sendTo(builder, true);
    builder.end('committed');
    ops.clear();
  };
  await eachLine(input.bytes(), input.shown, (text, number) => {
    const line = text.trim();
    if (line === '') return;
    if (/^-{3,}$/.test(line)) return close();
    if (/^={3,}$/.test(line)) {
      close();
      session++;
      return;
    }
    const match = /^([rw])\s+(\S+)\s+(\S+)$/.exec(line);
    if (match === null) {
      throw new FileError(
        { file: input.shown, line: number },
        `expected "r key value", "w key value", ----- or =====, found ${shown(line)}`,
      );
    }
    addRegisterOp(ops, match[1] === 'w', textName(match[2]!), textName(match[3]!));
  });
  close();
  return { kind: 'kv', history: settleMarkers(builder.build()) };
}
