/**
 * A place in the tokens of one statement, and the small moves every part of the grammar is made of.
 *
 * Spaces and plain comments are gone; neighbouring symbols that form one operator are joined. A move that does not
 * fit throws `ParseFailure`, which `parseStatement` turns into an opaque statement.
 */
import type { Expression, SelectStatement, WriteStatement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { type Token, type TokenKind, tokenize } from '../lexer.js';
import { foldName, unquoteName } from '../names.js';
import { isNameWord } from '../words.js';

/** Why a statement is not in our grammar. */
export class ParseFailure extends Error {}

/** Nobody writes a statement that needs this many second readings; a hostile one could ask for exponentially many. */
const maxAttempts = 1000;

const operators = new Set(
  '<=> ->> !~* ~~* <= >= <> != == || && << >> :: := -> ** // !~ ~* ~~ @@ => @> <@ #> ^@ ?| ?&'.split(' '),
);
/** Beyond this a recursive reader, printer or evaluator could run out of stack. */
const maxDepth = 200;

/** The rules of the grammar that can stand inside others. */
export interface Grammar {
  expression(c: Cursor, atLeast: number): Expression;
  query(c: Cursor): SelectStatement;
  write(c: Cursor): WriteStatement;
}

export class Cursor {
  readonly dialect: Dialect;
  readonly sql: string;
  private readonly tokens: Token[] = [];
  /** Of each token: a word in upper case, a symbol as it is, `''` for literals and quoted names. */
  private readonly keys: string[] = [];
  private at = 0;
  private depth = 0;
  private attempts = 0;
  /** Optimizer hint comments by the index of the token they stand before. */
  private hints: Map<number, string> | undefined;

  constructor(
    sql: string,
    dialect: Dialect,
    /** The rules that others reach through it (`nested.ts`). */
    readonly grammar: Grammar,
  ) {
    this.sql = sql;
    this.dialect = dialect;
    const all = tokenize(sql, dialect);
    for (let i = 0; i < all.length; i++) {
      const token = all[i]!;
      switch (token.kind) {
        case 'space':
          break;
        case 'comment':
          this.comment(token);
          break;
        case 'word':
          this.push(token, token.text.toUpperCase());
          break;
        case 'symbol': {
          const joined = joinSymbols(all, i);
          if (joined === token.text) this.push(token, joined);
          else {
            this.push({ kind: 'symbol', text: joined, start: token.start }, joined);
            i += joined.length - 1;
          }
          break;
        }
        default:
          this.push(token, '');
      }
    }
    while (this.keys.at(-1) === ';') {
      this.keys.pop();
      this.tokens.pop();
    }
  }

  private push(token: Token, key: string): void {
    this.tokens.push(token);
    this.keys.push(key);
  }

  private comment(token: Token): void {
    if (/^\/\*M?!/.test(token.text)) throw new ParseFailure('it has a comment that MySQL executes');
    if (!token.text.startsWith('/*+')) return;
    this.hints ??= new Map();
    this.hints.set(this.tokens.length, token.text);
  }

  /** The key of the token `ahead` of this one; `''` past the end and for literals. */
  key(ahead = 0): string {
    return this.keys[this.at + ahead] ?? '';
  }

  kind(ahead = 0): TokenKind | undefined {
    return this.tokens[this.at + ahead]?.kind;
  }

  text(ahead = 0): string {
    return this.tokens[this.at + ahead]?.text ?? '';
  }

  /** Whether the next token follows this one without space. */
  touches(): boolean {
    const token = this.tokens[this.at];
    return token !== undefined && this.tokens[this.at + 1]?.start === token.start + token.text.length;
  }

  get ended(): boolean {
    return this.at >= this.tokens.length;
  }

  get position(): number {
    return this.at;
  }

  advance(): string {
    const token = this.tokens[this.at];
    if (token === undefined) return this.fail('more');
    this.at++;
    return token.text;
  }

  /** Takes the words or symbols if they come next, all or none. Spelt out because it is called for every token. */
  accept(first: string, second?: string, third?: string, fourth?: string, fifth?: string): boolean {
    const { keys, at } = this;
    if (keys[at] !== first) return false;
    let end = at + 1;
    if (second !== undefined && keys[end++] !== second) return false;
    if (third !== undefined && keys[end++] !== third) return false;
    if (fourth !== undefined && keys[end++] !== fourth) return false;
    if (fifth !== undefined && keys[end++] !== fifth) return false;
    this.at = end;
    return true;
  }

  expect(first: string, second?: string): void {
    if (!this.accept(first, second)) this.fail(second === undefined ? first : `${first} ${second}`);
  }

  fail(expected: string): never {
    const found = this.ended ? 'the end' : this.text();
    throw new ParseFailure(
      `expected ${expected}, found ${found.length > 40 ? `${found.slice(0, 40)}…` : found}`,
    );
  }

  /** The hint comment before the next token. */
  hint(): { hint?: string } {
    const hint = this.hints?.get(this.at);
    return hint === undefined ? {} : { hint };
  }

  /** A name, quoted or not. */
  name(): string {
    const kind = this.kind();
    if (kind === 'quoted') return unquoteName(this.advance());
    if (kind === 'word' && isNameWord(this.key(), this.dialect))
      return foldName(this.advance(), this.dialect);
    return this.fail('a name');
  }

  /** Any word, even one of the grammar's, as a name: after AS and a dot every dialect is generous. */
  anyName(): string {
    if (this.kind() === 'word') return foldName(this.advance(), this.dialect);
    return this.name();
  }

  /** `name` or `schema.name`. */
  qualifiedName(): { schema?: string; name: string } {
    const name = this.name();
    return this.accept('.') ? { schema: name, name: this.anyName() } : { name };
  }

  list<T>(item: () => T): T[] {
    const items = [item()];
    while (this.accept(',')) items.push(item());
    return items;
  }

  /** `( … )`. */
  parenthesized<T>(inside: () => T): T {
    this.expect('(');
    const result = inside();
    this.expect(')');
    return result;
  }

  /** `(a, b)` as names. */
  names(): string[] {
    return this.parenthesized(() => this.list(() => this.name()));
  }

  /** Called before and after reading something that nests, so that nothing nests without end. */
  enter(): void {
    if (++this.depth > maxDepth) throw new ParseFailure('it is nested too deeply');
  }

  leave(): void {
    this.depth--;
  }

  /** Tries one reading; on failure the cursor is back where it was. */
  attempt<T>(read: () => T): T | undefined {
    const { at, depth } = this;
    this.attempts++;
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ParseFailure) || this.attempts > maxAttempts) throw error;
      this.at = at;
      this.depth = depth;
      return undefined;
    }
  }

  /** The text from a token position up to here, with single spaces. */
  textSince(from: number): string {
    let text = '';
    for (let i = from; i < this.at; i++) {
      const token = this.tokens[i]!;
      const before = this.tokens[i - 1];
      if (i > from && before!.start + before!.text.length < token.start) text += ' ';
      text += token.text;
    }
    return text;
  }

  /** Skips tokens until one of these keys stands outside parentheses, and returns the text skipped. */
  textUntil(...stops: readonly string[]): string {
    const from = this.at;
    let depth = 0;
    while (!this.ended) {
      const key = this.key();
      if (depth === 0 && stops.includes(key)) break;
      if (key === '(' || key === '[' || key === '{') depth++;
      else if ((key === ')' || key === ']' || key === '}') && --depth < 0) this.fail('balanced parentheses');
      this.at++;
    }
    if (depth !== 0) this.fail('a closing parenthesis');
    return this.textSince(from);
  }

  /** Upper-case words and numbers up to the end, single-spaced: modifiers whose spelling carries no meaning. */
  wordsToEnd(): string {
    const parts: string[] = [];
    while (!this.ended) {
      parts.push(this.kind() === 'word' ? this.key() : this.text());
      this.at++;
    }
    return parts.join(' ').replaceAll(' ,', ',');
  }

  /** What is left as it is written, single-spaced: it may hold names. */
  textToEnd(): string {
    const parts: string[] = [];
    while (!this.ended) {
      parts.push(this.text());
      this.at++;
    }
    return parts.join(' ');
  }

  end(): void {
    if (!this.ended) this.fail('the end of the statement');
  }
}

/** The longest operator that starts at a symbol and is written without gaps. */
function joinSymbols(tokens: readonly Token[], at: number): string {
  const first = tokens[at]!.text;
  const second = tokens[at + 1];
  if (second?.kind !== 'symbol') return first;
  const third = tokens[at + 2];
  if (third?.kind === 'symbol' && operators.has(first + second.text + third.text)) {
    return first + second.text + third.text;
  }
  return operators.has(first + second.text) ? first + second.text : first;
}
