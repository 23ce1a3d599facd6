/**
 * The program of a raw run: a small shop under load. Stock is sold and counted, shelves are marked, orders are placed, changed,
 * cancelled and listed; some transactions lock first, some roll back, some statements stand alone. Few rows are hot, marks
 * have few values, and orders are cancelled while others change them, so a bug of the engine shows by itself
 * somewhere among thousands of statements. The same seed makes the same program; what its run shows is up to the database.
 */
import type { Case } from '../cases/index.js';
import type { Level } from '../contracts/index.js';
import type { Dialect } from '../sql/index.js';

export interface RawWorkloadOptions {
  readonly name: string;
  readonly dialect: Dialect;
  readonly level: Level;
  /** Statements of all sessions, BEGIN and COMMIT included; the last transactions may go over it. */
  readonly operations: number;
  readonly sessions: number;
  readonly seed: number;
  /** Whether orders have a primary key. */
  readonly keyedOrders: boolean;
  /** Some reads end with FOR UPDATE. */
  readonly lockingReads: boolean;
}

const stockRows = 40;
const firstOrders = 60;
const marks = 3;

export function rawWorkload(options: RawWorkloadOptions): Case {
  const shop = new Shop(options);
  const texts: string[][] = Array.from({ length: options.sessions }, () => []);
  for (let sent = 0, turn = 0; sent < options.operations; turn++) {
    const statements = shop.transaction();
    texts[turn % options.sessions]!.push(...statements);
    sent += statements.length;
  }
  const key = options.keyedOrders ? ' PRIMARY KEY' : '';
  const stock = Array.from({ length: stockRows }, (_, i) => `(${i + 1}, ${1000 + i})`);
  const shelf = Array.from({ length: stockRows }, (_, i) => `(${i + 1}, ${i % marks})`);
  const orders = Array.from(
    { length: firstOrders },
    (_, i) => `(${i + 1}, ${(i % stockRows) + 1}, ${i % 9})`,
  );
  return {
    name: options.name,
    dialect: options.dialect,
    level: options.level,
    setup: [
      'CREATE TABLE stock (id INT PRIMARY KEY, pieces INT)',
      `INSERT INTO stock VALUES ${stock.join(', ')}`,
      'CREATE TABLE shelf (id INT PRIMARY KEY, mark INT)',
      `INSERT INTO shelf VALUES ${shelf.join(', ')}`,
      `CREATE TABLE orders (id INT${key}, item INT, amount INT)`,
      `INSERT INTO orders VALUES ${orders.join(', ')}`,
    ],
    sessions: texts.map((statements, s) => ({ name: `S${s + 1}`, statements })),
  };
}

/** Makes transactions one after another. */
class Shop {
  readonly #random: () => number;
  #orders = firstOrders;

  constructor(private readonly options: RawWorkloadOptions) {
    this.#random = mulberry32(options.seed);
  }

  transaction(): string[] {
    const kind = this.#below(100);
    if (kind < 8) return [this.#alone()];
    const body =
      kind < 30
        ? this.#sell()
        : kind < 52
          ? this.#mark()
          : kind < 70
            ? this.#cancel()
            : kind < 85
              ? this.#change()
              : this.#look();
    return ['BEGIN', ...body, this.#below(100) < 6 ? 'ROLLBACK' : 'COMMIT'];
  }

  #sell(): string[] {
    const item = this.#item();
    const amount = 1 + this.#below(9);
    const order = ++this.#orders;
    const lock = this.options.lockingReads && this.#below(3) === 0 ? ' FOR UPDATE' : '';
    return [
      `SELECT id, pieces FROM stock WHERE id = ${item}${lock}`,
      `UPDATE stock SET pieces = pieces - ${amount} WHERE id = ${item}`,
      `INSERT INTO orders VALUES (${order}, ${item}, ${amount})`,
      this.#below(2) === 0
        ? `SELECT id, item, amount FROM orders WHERE id = ${order}`
        : `SELECT id, pieces FROM stock WHERE id = ${item}`,
    ];
  }

  /** Items in ascending order keep deadlocks rare. */
  #mark(): string[] {
    const items = [this.#item(), this.#item()].sort((a, b) => a - b);
    const mark = this.#below(marks);
    const written = this.#below(2) === 0 ? items.slice(0, 1) : [...new Set(items)];
    return [
      `SELECT id, mark FROM shelf WHERE id IN (${items.join(', ')})`,
      ...written.map((item) => `UPDATE shelf SET mark = ${mark} WHERE id = ${item}`),
      `SELECT id, mark FROM shelf WHERE id = ${items[0]}`,
    ];
  }

  #cancel(): string[] {
    const order = this.#order();
    return [
      `SELECT id, item, amount FROM orders WHERE id = ${order}`,
      `DELETE FROM orders WHERE id = ${order}`,
      this.#below(2) === 0
        ? `SELECT id, item, amount FROM orders WHERE id = ${order}`
        : `SELECT id, amount FROM orders WHERE id BETWEEN ${order - 3} AND ${order + 3}`,
    ];
  }

  #change(): string[] {
    const order = this.#order();
    return [
      `SELECT id, item, amount FROM orders WHERE id = ${order}`,
      `UPDATE orders SET amount = ${this.#below(9)} WHERE id = ${order}`,
      ...(this.#below(2) === 0 ? [`SELECT id, amount FROM orders WHERE id = ${order}`] : []),
    ];
  }

  #look(): string[] {
    const order = this.#order();
    const item = this.#item();
    const reads = [
      `SELECT id, pieces FROM stock WHERE id = ${item}`,
      `SELECT id, amount FROM orders WHERE id BETWEEN ${order - 5} AND ${order + 5}`,
      `SELECT id, item FROM orders WHERE id = ${order}`,
      `SELECT id FROM shelf WHERE mark = ${this.#below(marks)} AND id <= 12`,
    ];
    const chosen = Array.from({ length: 2 + this.#below(2) }, () => reads[this.#below(reads.length)]!);
    return [...chosen, chosen[0]!];
  }

  #alone(): string {
    switch (this.#below(3)) {
      case 0:
        return `UPDATE stock SET pieces = pieces + ${10 * (1 + this.#below(5))} WHERE id = ${this.#item()}`;
      case 1:
        return `SELECT id, item, amount FROM orders WHERE id = ${this.#order()}`;
      default:
        return `DELETE FROM orders WHERE id = ${this.#order()}`;
    }
  }

  /** The lower the number, the hotter the row. */
  #item(): number {
    return 1 + Math.min(this.#below(stockRows), this.#below(stockRows), this.#below(stockRows));
  }

  /** One of the latest orders: those are the ones that several people are about. */
  #order(): number {
    return this.#orders - Math.min(this.#below(30), this.#below(30));
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

/** Numbers in [0, 1) from a seed. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
