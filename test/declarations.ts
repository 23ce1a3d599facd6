/** The types of the package as its users see them, for tests of what is exported. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const tsc = resolve('node_modules/typescript/bin/tsc');

/** Compiles files in a folder of their own; returns what the compiler says, and the folder's text files it made. */
export async function compile(
  files: Readonly<Record<string, string>>,
  options: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly problems: string; readonly made: ReadonlyMap<string, string> }> {
  const folder = await mkdtemp(join(tmpdir(), 'isolde-compile-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const config = {
      extends: resolve('tsconfig.json'),
      compilerOptions: {
        paths: { 'isolde-db': [resolve('src/index.ts')] },
        typeRoots: [resolve('node_modules/@types')],
        rootDir: '/',
        ...options,
      },
      include: [],
      files: Object.keys(files),
    };
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const problems = await promisify(execFile)(process.execPath, [
      tsc,
      '-p',
      folder,
      '--pretty',
      'false',
    ]).then(
      () => '',
      (error: { readonly stdout?: string }) => error.stdout ?? String(error),
    );
    const made = new Map<string, string>();
    for (const name of await readdir(folder, { recursive: true })) {
      if (name.endsWith('.d.ts')) made.set(name, await readFile(join(folder, name), 'utf8'));
    }
    return { problems, made };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Declared {
  readonly file: string;
  readonly name: string;
}

/**
 * The types that users of a package meet and cannot name: those that exported functions, classes, interfaces and types mention,
 * directly or by way of others, and that the index does not export. Reads declaration files, which are formatted: a declaration begins
 * a line, and ends with the bracket or semicolon at its own depth. Types that their own module keeps to itself are looked through.
 */
export class ExportedTypes {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #exports = new Map<string, ReadonlyMap<string, Declared>>();

  constructor(
    made: ReadonlyMap<string, string>,
    private readonly index: string,
  ) {
    this.#texts = new Map([...made].map(([file, text]) => [file, text.replaceAll(/\/\*[\s\S]*?\*\//g, '')]));
  }

  /** `name, which PARENT mentions`, sorted. */
  missing(): string[] {
    const exported = this.#public();
    const found = new Set<string>();
    const seen = new Set<string>();
    const visit = (declared: Declared): void => {
      if (seen.has(keyOf(declared))) return;
      seen.add(keyOf(declared));
      for (const other of this.#mentionedBy(declared)) {
        const isOwn = !this.#exportsOf(other.file).has(other.name);
        if (!exported.has(keyOf(other)) && !isOwn)
          found.add(`${other.name}, which ${declared.name} mentions (${other.file})`);
        visit(other);
      }
    };
    for (const declared of exported.values()) visit(declared);
    return [...found].sort();
  }

  #public(): ReadonlyMap<string, Declared> {
    const all = [...this.#exportsOf(this.index).values()];
    // `export type * as sql`: whatever that index exports.
    for (const [, from] of this.#texts.get(this.index)!.matchAll(/export type \* as \w+ from '([^']+)'/g))
      all.push(...this.#exportsOf(besides(this.index, from!)).values());
    return new Map(all.map((declared) => [keyOf(declared), declared]));
  }

  /** What a file exports, by the names it exports it under, where it is declared. */
  #exportsOf(file: string): ReadonlyMap<string, Declared> {
    const known = this.#exports.get(file);
    if (known !== undefined) return known;
    const found = new Map<string, Declared>();
    this.#exports.set(file, found);
    const text = this.#texts.get(file) ?? '';
    for (const [, names, from] of text.matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g))
      for (const [here, there] of specifiers(names!)) {
        const declared = this.#exportsOf(besides(file, from!)).get(there);
        if (declared !== undefined) found.set(here, declared);
      }
    for (const [, name] of text.matchAll(
      /^export (?:declare )?(?:abstract )?(?:function|const|class|interface|type) (\w+)/gm,
    ))
      found.set(name!, { file, name: name! });
    return found;
  }

  #mentionedBy({ file, name }: Declared): readonly Declared[] {
    const text = this.#texts.get(file)!;
    const known = new Map<string, Declared>();
    for (const [, names, from] of text.matchAll(/import (?:type )?\{([^}]*)\} from '(\.[^']+)'/g))
      for (const [here, there] of specifiers(names!)) {
        const declared = this.#exportsOf(besides(file, from!)).get(there);
        if (declared !== undefined) known.set(here, declared);
      }
    for (const [, own] of text.matchAll(
      /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type) (\w+)/gm,
    ))
      known.set(own!, { file, name: own! });
    const words = declarationsOf(text, name).flatMap((each) => each.match(/\b[A-Z]\w*\b/g) ?? []);
    const inPlace = declarationsOf(text, name).flatMap((each) =>
      [...each.matchAll(/import\("(\.[^"]+)"\)\.(\w+)/g)].flatMap(
        ([, from, there]) => this.#exportsOf(besides(file, from!)).get(there!) ?? [],
      ),
    );
    return [...new Set(words)]
      .filter((word) => word !== name)
      .flatMap((word) => known.get(word) ?? [])
      .concat(inPlace);
  }
}

const keyOf = ({ file, name }: Declared): string => `${file} ${name}`;

/** `a, type B as C` as pairs of the name here and the name there. */
function specifiers(list: string): [here: string, there: string][] {
  return list.split(',').flatMap((part) => {
    const [there, here = there] = part
      .trim()
      .replace(/^type /, '')
      .split(/\s+as\s+/);
    return there === undefined || there === '' ? [] : [[here!, there]];
  });
}

function besides(file: string, path: string): string {
  return join(dirname(file), path).replace(/\.js$/, '.d.ts');
}

/** Everything that declares a name: a function has a declaration for each of its forms. Private members are no part of it. */
function declarationsOf(text: string, name: string): string[] {
  const begins = new RegExp(
    `^(?:export )?(?:declare )?(?:abstract )?(?:function|const|(class|interface)|type) ${name}\\b`,
    'gm',
  );
  return [...text.matchAll(begins)].map(({ index, 0: head, 1: block }) => {
    let depth = 0;
    let at = index + head.length;
    for (; at < text.length; at++) {
      if ('({['.includes(text[at]!)) depth++;
      else if (')}]'.includes(text[at]!)) depth--;
      if (depth === 0 && (text[at] === ';' || (text[at] === '}' && block !== undefined))) break;
    }
    return text.slice(index, at).replaceAll(/^\s*(?:private|protected|#)[^\n]*/gm, '');
  });
}
