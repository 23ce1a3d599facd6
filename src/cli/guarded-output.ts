/**
 * The one filter between Isolde and a terminal. Everything a command prints holds text of others somewhere: a version, a
 * name, an error, a line of a file. `main` hands commands a context whose writers show control characters as escapes
 * (`visible.ts`), so that no command has to think of it.
 *
 * Our own colours and cursor movements must pass, and those alone. Each is written with a mark behind its escape
 * character that is drawn anew for every process: data that brings an escape sequence cannot bring the mark.
 */
import { randomBytes } from 'node:crypto';
import type pc from 'picocolors';
import { secretFilter, secretsIn } from '../secrets.js';
import { showControls } from '../visible.js';
import type { CliContext, CliWorld } from './context.js';

type Colors = ReturnType<typeof pc.createColors>;

const esc = '\u001b';

/** The context commands get: the world's, behind the filter, which also hides the secrets of URLs given as `args`. */
export function guardOutput(world: CliWorld, args: readonly string[] = []): CliContext {
  const { ISOLDE_TARGET: defaultTarget = '', PGPASSWORD = '', MYSQL_PWD = '' } = world.env ?? {};
  const secrets = [...args, defaultTarget].flatMap(secretsIn);
  const hide = secretFilter([...secrets, PGPASSWORD, MYSQL_PWD].filter((secret) => secret !== ''));
  const mark = `${esc}${randomBytes(12).toString('hex')};`;
  const marked = (sequence: string) => sequence.replaceAll(esc, mark);
  const filtered = (text: string) => hide(text).split(mark).map(showControls).join(esc);
  const { out, err, outIsTerminal, errIsTerminal } = world;
  return {
    ...world,
    defaultTarget: defaultTarget === '' ? undefined : defaultTarget,
    out: (text) => out(filtered(text)),
    err: (text) => err(filtered(text)),
    file: (text) => out(outIsTerminal ? filtered(text) : hide(text)),
    colors: guardColors(world.colors, (paint, text) => marked(paint(filtered(text)))),
    eraseLines: (count) => {
      // A writer ends what it writes with a line break, which the last movement takes back.
      if (errIsTerminal) err(`${esc}[${count}A${esc}[0J${esc}[1A`);
    },
  };
}

/** Every colour, applied through `apply`. */
function guardColors(
  colors: Colors,
  apply: (paint: (text: string) => string, text: string) => string,
): Colors {
  const guarded = Object.entries(colors).map(([name, paint]) =>
    typeof paint === 'function' ? [name, (text: unknown) => apply(paint, String(text))] : [name, paint],
  );
  return Object.fromEntries(guarded) as Colors;
}
