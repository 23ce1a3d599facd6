/**
 * Embedded engines that took a hunt's process with them, remembered in the store's folder so that the next hunt gives them a
 * process of their own.
 *
 * A process that aborts writes nothing down. So a hunt leaves a mark while an engine runs inside it, `engines/ENGINE.running-PID-HOST`,
 * and takes it away when it ends, by whatever way still runs its exit hooks. A mark whose process is gone is a process that aborted
 * (or was killed with SIGKILL, which looks the same), and becomes `engines/ENGINE.crashed`. The files are empty: nothing can
 * be half written.
 */
import { rmSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { errorText, IsoldeError } from '../errors.js';
import { isRunning } from '../running.js';
import { inOwnProcess, isEmbedded, openTarget, type Target } from '../targets/index.js';

type Engine = Pick<Target['stamp'], 'name' | 'version'>;

const fileName = (text: string) => text.replaceAll(/[^\w.+]+/g, '_');
const nameOf = ({ name, version }: Engine) => fileName(`${name}_${version}`);

export class CrashedEngines {
  readonly #folder: string;
  readonly #host = fileName(hostname());
  readonly #marks = new Set<string>();

  constructor(store: string) {
    this.#folder = join(store, 'engines');
  }

  /** Whether this version crashed in an earlier hunt, or took one with it. */
  async has(engine: Engine): Promise<boolean> {
    const name = nameOf(engine);
    const names: string[] = await readdir(this.#folder).catch(() => []);
    if (names.includes(`${name}.crashed`)) return true;
    const running = names.filter((each) => each.startsWith(`${name}.running-`));
    // Whether a process of another machine still runs cannot be seen from here.
    const dead = running.filter((each) => {
      const [, pid, host] = /\.running-(\d+)-(.*)$/.exec(each) ?? [];
      return host === this.#host && !isRunning(Number(pid));
    });
    if (dead.length === 0) return false;
    await this.remember(engine);
    for (const each of dead) await rm(join(this.#folder, each), { force: true });
    return true;
  }

  remember(engine: Engine): Promise<void> {
    return this.#write(join(this.#folder, `${nameOf(engine)}.crashed`));
  }

  /** From now until `end` this process ends only with the mark taken away, or by the engine's doing. */
  async begin(engine: Engine): Promise<void> {
    const mark = join(this.#folder, `${nameOf(engine)}.running-${process.pid}-${this.#host}`);
    await this.#write(mark);
    if (this.#marks.size === 0) process.on('exit', this.#end);
    this.#marks.add(mark);
  }

  end(): void {
    process.off('exit', this.#end);
    this.#end();
  }

  readonly #end = () => {
    for (const mark of this.#marks) rmSync(mark, { force: true });
    this.#marks.clear();
  };

  async #write(file: string): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true });
      await writeFile(file, '');
    } catch (error) {
      throw new IsoldeError('file-system', `cannot write ${file}: ${errorText(error)}`, { cause: error });
    }
  }
}

/** Opens the engine of a URL as often as a hunt asks; what has crashed before, in a process of its own. */
export class EngineOpener {
  #url: string | undefined;
  #engine: Engine | undefined;

  constructor(
    url: string | undefined,
    private readonly crashed: CrashedEngines,
    private readonly say: (line: string) => void,
  ) {
    this.#url = url;
  }

  async open(): Promise<Target> {
    const target = await openTarget(this.#url);
    if (this.#engine !== undefined || !isEmbedded(this.#url)) return target;
    const { name, version } = target.stamp;
    this.#engine = { name, version };
    const own = inOwnProcess(this.#url);
    try {
      if (own === undefined) return target;
      if (!(await this.crashed.has(this.#engine))) {
        await this.crashed.begin(this.#engine);
        return target;
      }
    } catch (error) {
      await target.close();
      throw error;
    }
    await target.close();
    this.say(
      `${name} ${version} crashed in an earlier hunt, or that hunt was killed: it runs in a process of its own (?process=same runs it in this one)`,
    );
    this.#url = own;
    return openTarget(own);
  }

  /** A hunt has found that the engine crashes. */
  async hasCrashed(): Promise<void> {
    if (this.#engine !== undefined) await this.crashed.remember(this.#engine);
  }
}
