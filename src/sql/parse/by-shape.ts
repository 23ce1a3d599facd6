/**
 * Parses many statements that differ in their integers alone, as those of a workload do. The text with its integers taken
 * out is the shape; the first statement of a shape is parsed with a mark (an integer that occurs nowhere else) in each
 * place, and every other one gets the tree with its own integers where the marks stand. Parts without marks are shared.
 *
 * A shape is used so only if each mark comes back as one constant and nowhere else in the tree: digits in strings, names,
 * types and comments are no constants, and statements with them are parsed one by one. A constant of up to 15 digits is
 * parsed alike whatever its value, so both ways give the same tree (`by-shape.test.ts` compares them).
 */
import type { Statement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { parseStatement } from './parse.js';

export interface ShapedStatement {
  readonly statement: Statement;
  /** The same object for statements that differ in integers alone: what depends on no value can be kept by it. */
  readonly shape: Statement;
}

interface Template {
  readonly statement: Statement;
  readonly slots: number;
  readonly marked: ReadonlySet<object>;
}

const integers = /(?<![\w.$@:?])\d{1,15}(?![\w.])/g;
const firstMark = 900_000_000_000_000;
const maxSlots = 1000;
const shapesKept = 2000;

const shared = new Map<Dialect, ShapeParser>();

/** The one that all share who read the same statements: what one oracle has parsed of a run, the next need not. */
export function shapeParserOf(dialect: Dialect): ShapeParser {
  const parser = shared.get(dialect) ?? new ShapeParser(dialect);
  shared.set(dialect, parser);
  return parser;
}

export class ShapeParser {
  readonly #templates = new Map<string, Template | undefined>();

  constructor(private readonly dialect: Dialect) {}

  parse(sql: string): ShapedStatement {
    const values: number[] = [];
    const key = sql.replace(integers, (digits) => {
      values.push(Number(digits));
      return '\u0001';
    });
    let template = this.#templates.get(key);
    if (template === undefined && !this.#templates.has(key)) {
      template = this.#templateOf(sql);
      if (this.#templates.size >= shapesKept) this.#templates.clear();
      this.#templates.set(key, template);
    }
    if (template === undefined || template.slots !== values.length) {
      const statement = parseStatement(sql, this.dialect);
      return { statement, shape: statement };
    }
    return { statement: filled(template.statement, template.marked, values), shape: template.statement };
  }

  #templateOf(sql: string): Template | undefined {
    let slots = 0;
    const statement = parseStatement(
      sql.replace(integers, () => String(firstMark + slots++)),
      this.dialect,
    );
    if (slots > maxSlots) return undefined;
    const found = new Set<number>();
    const marked = new Set<object>();
    return mark(statement, found, marked) && found.size === slots ? { statement, slots, marked } : undefined;
  }
}

function slotOf(value: number): number {
  const slot = Math.abs(value) - firstMark;
  return slot >= 0 && slot < maxSlots ? slot : -1;
}

/** Notes the objects below which a mark stands; false where one stands twice or as anything but a constant. */
function mark(node: unknown, found: Set<number>, marked: Set<object>): boolean {
  if (typeof node === 'string') return !/9000000000\d{5}/.test(node);
  if (typeof node === 'number') return slotOf(node) < 0;
  if (typeof node !== 'object' || node === null) return true;
  const before = found.size;
  if (isMarkedLiteral(node)) {
    const slot = slotOf(node.value);
    if (found.has(slot)) return false;
    found.add(slot);
  } else {
    for (const part of Object.values(node)) if (!mark(part, found, marked)) return false;
  }
  if (found.size > before) marked.add(node);
  return true;
}

function isMarkedLiteral(node: object): node is { readonly type: 'literal'; readonly value: number } {
  const { type, value } = node as { readonly type?: unknown; readonly value?: unknown };
  return type === 'literal' && typeof value === 'number' && slotOf(value) >= 0;
}

/** A copy of what is marked, with values for marks; the rest is the same objects. */
function filled<T extends object>(node: T, marked: ReadonlySet<object>, values: readonly number[]): T {
  if (!marked.has(node)) return node;
  if (isMarkedLiteral(node)) {
    const value = values[slotOf(node.value)]!;
    return { ...node, value: node.value < 0 && value !== 0 ? -value : value };
  }
  if (Array.isArray(node)) return node.map((part) => filledPart(part, marked, values)) as unknown as T;
  const copy = { ...node } as Record<string, unknown>;
  for (const name in copy) {
    const part = copy[name];
    if (typeof part === 'object' && part !== null) copy[name] = filled(part, marked, values);
  }
  return copy as T;
}

function filledPart(part: unknown, marked: ReadonlySet<object>, values: readonly number[]): unknown {
  return typeof part === 'object' && part !== null ? filled(part, marked, values) : part;
}
