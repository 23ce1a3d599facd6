/**
 * JSON that came from outside: parsed, then taken apart field by field, so that every complaint names the file,
 * the line and the field.
 *
 * `JSON.parse` builds the data, for it is fast and exact. It does not say where things stood, so only when
 * there is something to complain about a second, slow walk over the same text finds the line: of the syntax
 * error, or of the value at a path.
 */
import { FileError } from './errors.js';

/** Where a value stands inside a JSON text: member names and positions from the outside in. */
export type JsonPath = readonly (string | number)[];

const maxDepth = 500;

/** `sessions[1].statements[3]`; a name that is no plain word is quoted: `settings["a b"]`. */
export function showPath(path: JsonPath): string {
  let shown = '';
  for (const step of path) {
    if (typeof step === 'number') shown += `[${step}]`;
    else if (!/^\w+$/.test(step)) shown += `[${JSON.stringify(step)}]`;
    else shown += shown === '' ? step : `.${step}`;
  }
  return shown;
}

/** Parses a JSON text; `firstLine` is the number of its first line in the file. */
export function parseJson(text: string, file: string, firstLine = 1): JsonNode {
  const deep = tooDeepAt(text);
  if (deep !== undefined) {
    const line = firstLine + countLines(text, deep);
    throw new FileError({ file, line }, `it is nested too deeply (more than ${maxDepth} levels)`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { offset, problem } = walk(text, undefined);
    const line = firstLine + countLines(text, offset);
    throw new FileError({ file, line }, `this is not JSON: ${problem ?? 'it cannot be parsed'}`);
  }
  return new JsonNode(value, [], { text, file, firstLine });
}

interface JsonSource {
  readonly text: string;
  readonly file: string;
  readonly firstLine: number;
}

/** A parsed value that remembers where it stood, and complains about itself. */
export class JsonNode {
  constructor(
    readonly value: unknown,
    readonly path: JsonPath,
    private readonly source: JsonSource,
  ) {}

  /** Throws the error that says what is wrong with this value. */
  fail(problem: string): never {
    const { text, file, firstLine } = this.source;
    const line = firstLine + countLines(text, walk(text, this.path).offset);
    const field = this.path.length === 0 ? undefined : showPath(this.path);
    throw new FileError({ file, line, field }, problem);
  }

  /** This value as an object that has no other members than those named. */
  object(known: readonly string[]): this {
    const members = this.members();
    const unknown = members.filter((name) => !known.includes(name));
    if (unknown.length > 0) {
      this.at(unknown[0]!).fail(
        `unknown ${unknown.length === 1 ? 'field' : 'fields'} ${unknown.join(', ')}; known are ${known.join(', ')}`,
      );
    }
    return this;
  }

  /** The member names of this object. */
  members(): string[] {
    if (typeof this.value !== 'object' || this.value === null || Array.isArray(this.value)) {
      this.fail(`expected an object, found ${this.shown()}`);
    }
    return Object.keys(this.value);
  }

  /** The member of this name; its value is undefined when there is none. Of nothing it fails: nobody may have looked before. */
  at(name: string): JsonNode {
    if (this.value === undefined || this.value === null) this.members();
    const object = this.value as Record<string, unknown>;
    return new JsonNode(
      Object.hasOwn(object, name) ? object[name] : undefined,
      [...this.path, name],
      this.source,
    );
  }

  /** What `read` makes of the member of this name, or undefined when there is none. */
  maybe<T>(name: string, read: (node: JsonNode) => T): T | undefined {
    const node = this.at(name);
    return node.value === undefined ? undefined : read(node);
  }

  items(): JsonNode[] {
    if (!Array.isArray(this.value)) this.fail(`expected a list, found ${this.shown()}`);
    return this.value.map((item, i) => new JsonNode(item, [...this.path, i], this.source));
  }

  text(): string {
    return typeof this.value === 'string' ? this.value : this.fail(`expected text, found ${this.shown()}`);
  }

  /** An integer from 0 on. */
  count(): number {
    const { value } = this;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    return this.fail(`expected an integer from 0 on, found ${this.shown()}`);
  }

  oneOf<T extends string>(choices: readonly T[]): T {
    const choice = choices.find((each) => each === this.value);
    return choice ?? this.fail(`expected one of ${choices.join(', ')}; found ${this.shown()}`);
  }

  private shown(): string {
    return showFound(this.value);
  }
}

/** A value found where another was expected, cut short. */
export function showFound(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** A member that is left out where it has no value. */
export function optional<Key extends string, T>(key: Key, value: T | undefined): { [K in Key]?: T } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: T };
}

/** Checks the two members every format of ours begins with. */
export function checkFormat(node: JsonNode, format: string, version: number): void {
  node.members();
  const found = node.at('format');
  if (found.value !== format) {
    found.fail(`expected "format": "${format}", found ${showFound(found.value)}`);
  }
  const number = node.at('version').count();
  if (number > version) {
    node
      .at('version')
      .fail(`version ${number} is newer than this Isolde reads (${version}); a newer Isolde is needed`);
  }
  if (number < 1) node.at('version').fail(`version ${number} does not exist; versions begin at 1`);
}

/**
 * Where a text is nested too deeply for functions that call themselves, ours and the runtime's; undefined where it is not.
 * A text that is no JSON may be measured wrongly, and is refused for that.
 */
function tooDeepAt(text: string): number | undefined {
  if (text.length <= maxDepth) return undefined;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = endOfString(text, at);
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > maxDepth) return at;
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
  return undefined;
}

/** The place of the quote that ends the string beginning at `start`; the text's length where there is none. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

function countLines(text: string, offset: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/**
 * Walks over a JSON text. With a path: the offset of the value there (or of the innermost value on the way, if the
 * last steps do not exist). Without: the offset and nature of the first syntax error.
 */
function walk(text: string, wanted: JsonPath | undefined): { offset: number; problem?: string } {
  const scan = new Scanner(text, wanted);
  try {
    scan.document();
  } catch (thrown) {
    if (!(thrown instanceof SyntaxProblem)) throw thrown;
    return wanted === undefined ? { offset: scan.at, problem: thrown.message } : { offset: scan.best };
  }
  return { offset: scan.best };
}

class SyntaxProblem extends Error {}

class Scanner {
  at = 0;
  best = 0;
  private bestDepth = -1;

  constructor(
    private readonly text: string,
    private readonly wanted: JsonPath | undefined,
  ) {}

  document(): void {
    this.value(0, true);
    this.space();
    if (this.at < this.text.length) this.problem(`nothing may follow the value, found ${this.found()}`);
  }

  /** `depth` is the length of the path to this value; `onPath` whether that path begins the wanted one. */
  private value(depth: number, onPath: boolean): void {
    this.space();
    if (onPath && depth > this.bestDepth) {
      this.best = this.at;
      this.bestDepth = depth;
    }
    const char = this.text[this.at];
    if (char === '{') this.list('}', () => this.member(depth, onPath));
    else if (char === '[') {
      this.list(']', (i) => this.value(depth + 1, onPath && this.wanted?.[depth] === i));
    } else if (char === '"') this.string();
    else this.atom();
  }

  private member(depth: number, onPath: boolean): void {
    const start = this.at;
    if (this.text[start] !== '"') this.problem(`expected a name in double quotes, found ${this.found()}`);
    this.string();
    let name: unknown;
    try {
      name = JSON.parse(this.text.slice(start, this.at));
    } catch {
      this.problem('a bad escape in a name');
    }
    this.space();
    if (this.text[this.at] !== ':') this.problem(`expected ":", found ${this.found()}`);
    this.at++;
    this.value(depth + 1, onPath && this.wanted?.[depth] === name);
  }

  private list(close: string, item: (position: number) => void): void {
    this.at++;
    this.space();
    if (this.text[this.at] === close) {
      this.at++;
      return;
    }
    for (let position = 0; ; position++) {
      this.space();
      item(position);
      this.space();
      const char = this.text[this.at];
      if (char === close) {
        this.at++;
        return;
      }
      if (char !== ',') this.problem(`expected "," or "${close}", found ${this.found()}`);
      this.at++;
    }
  }

  private string(): void {
    const pattern = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) this.problem('a text that does not end on its line, or holds a bad escape');
    this.at += match[0].length;
  }

  private atom(): void {
    const pattern = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) this.problem(`expected a value, found ${this.found()}`);
    this.at += match[0].length;
  }

  private space(): void {
    while (' \t\r\n'.includes(this.text[this.at] ?? '-')) this.at++;
  }

  private found(): string {
    return this.at < this.text.length ? JSON.stringify(this.text[this.at]) : 'the end of the text';
  }

  private problem(message: string): never {
    throw new SyntaxProblem(message);
  }
}
