/**
 * The one filter between Isolde and a terminal. Everything a command prints holds text of others somewhere: a version, a
 * name, an error, a line of a file. `main` hands commands a context whose writers show control characters as escapes
 * (`visible.ts`), so that no command has to think of it.
 *
 * Our own colours and cursor movements must pass, and those alone. Each is written with a mark behind its escape
 * character that is drawn anew for every process: data that brings an escape sequence cannot bring the mark.
 */
import type pc from 'picocolors';
import { type Config, targetNamed, urlsOf } from '../config-file.js';
import { secretFilter, secretsIn } from '../secrets.js';
import { showControls } from '../visible.js';
import type { CliContext, CliWorld } from './context.js';

type Colors = ReturnType<typeof pc.createColors>;

const esc = '\u001b';

/** The context commands get: the world's, behind the filter, which also hides the secrets of URLs given as `args`. */
export function guardOutput(world: CliWorld, args: readonly string[] = [], config?: Config): CliContext {
  const { ISOLDE_TARGET: fromEnvironment = '', ISOLDE_FLEET_DB: fleet = '' } = world.env ?? {};
  const { PGPASSWORD = '', MYSQL_PWD = '' } = world.env ?? {};
  const named = fromEnvironment === '' ? (config?.target ?? '') : fromEnvironment;
  const defaultTarget = config === undefined ? named : targetNamed(config, named);
  const configured = config === undefined ? [] : urlsOf(config);
  const secrets = [...args, ...configured, defaultTarget, fleet].flatMap(secretsIn);
  const hide = secretFilter([...secrets, PGPASSWORD, MYSQL_PWD].filter((secret) => secret !== ''));
  const { marked, unmarked } = marking();
  const filtered = (text: string) => unmarked(hide(text)).map(showControls).join(esc);
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

/** The mark is drawn when the first sequence of ours needs it: until then no text can hold it, and most commands print none. */
function marking(): {
  readonly marked: (sequence: string) => string;
  /** The text between the marks. */
  readonly unmarked: (text: string) => string[];
} {
  let mark: string | undefined;
  return {
    marked: (sequence) => {
      if (!sequence.includes(esc)) return sequence;
      mark ??= `${esc}${Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString('hex')};`;
      return sequence.replaceAll(esc, mark);
    },
    unmarked: (text) => (mark === undefined ? [text] : text.split(mark)),
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
