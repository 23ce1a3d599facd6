/** Single statements of scenarios, as text: everything that inserts, moves, frees or looks at a key. */
import { oneRowOf } from '../capabilities.js';
import { Random } from '../random.js';
import {
  automatic,
  columnsOf,
  condition,
  indexHint,
  keyText,
  rangeCondition,
  rowOf,
  type Scene,
} from './scene.js';

/** Draws statements on the table of a scene; numbers are never used twice. */
export class SceneWrites {
  #rid = 100;
  #value = 1000;

  constructor(
    readonly scene: Scene,
    readonly random: Random,
  ) {}

  value(): number {
    return this.#value++;
  }

  rid(): number {
    return this.#rid++;
  }

  where(key: number): string {
    return `k = ${keyText(this.scene, key)}`;
  }

  /** INSERT of a row with this key, or with none; `u`: its unique value. */
  insert(key: number | undefined, u = this.value()): string {
    const { scene } = this;
    const row = rowOf(scene, { rid: this.rid(), key, u, v: this.value() });
    return `INSERT INTO t (${columnsOf(scene, key !== undefined).join(', ')}) VALUES ${row}`;
  }

  /** Two rows, the second with a key that may be taken: all of it or nothing. */
  insertTwo(key: number): string {
    const { scene } = this;
    const rows = [key + 20 + this.rid(), key].map((each) =>
      rowOf(scene, { rid: this.rid(), key: each, u: this.value(), v: this.value() }),
    );
    return `INSERT INTO t (${columnsOf(scene, true).join(', ')}) VALUES ${rows.join(', ')}`;
  }

  /** INSERT that does nothing where the key is taken: by a condition, or by the words for it where the database has them. */
  insertIfAbsent(key: number, byCondition: boolean): string {
    const { scene } = this;
    const names = columnsOf(scene, true);
    const row = rowOf(scene, { rid: this.rid(), key, u: this.value(), v: this.value() });
    if (byCondition || scene.capabilities.unsupported.includes('statement.upsert')) {
      const one = oneRowOf(scene.capabilities);
      return `INSERT INTO t (${names.join(', ')}) SELECT ${row.slice(1, -1)}${one} WHERE NOT EXISTS (SELECT 1 FROM t WHERE ${this.where(key)})`;
    }
    if (scene.dialect === 'mysql') return `INSERT IGNORE INTO t (${names.join(', ')}) VALUES ${row}`;
    return `INSERT INTO t (${names.join(', ')}) VALUES ${row} ON CONFLICT DO NOTHING`;
  }

  /** INSERT, or a change of the row that has the key. */
  upsert(key: number): string {
    const { scene } = this;
    const insert = `INSERT INTO t (${columnsOf(scene, true).join(', ')}) VALUES ${rowOf(scene, { rid: this.rid(), key, u: this.value(), v: this.value() })}`;
    const change = this.random.chance(0.5)
      ? String(this.value())
      : scene.dialect === 'mysql'
        ? 'v + 1'
        : 't.v + 1';
    return this.#otherUpsert(key, insert) ?? this.#changing(insert, change);
  }

  #changing(insert: string, change: string, where = ''): string {
    return this.scene.dialect === 'mysql'
      ? `${insert} ON DUPLICATE KEY UPDATE v = ${change}`
      : `${insert} ON CONFLICT (k) DO UPDATE SET v = ${change}${where}`;
  }

  /**
   * Half of all upserts compute from both rows, have a condition, a second row or a subquery, or take their row from a query. Drawn from a stream of
   * their own: the rest of a program does not depend on it.
   */
  #otherUpsert(key: number, insert: string): string | undefined {
    const { dialect, unique, capabilities } = this.scene;
    const forms = new Random(`upsert/${insert}`);
    if (forms.chance(0.5)) return undefined;
    const mysql = dialect === 'mysql';
    const [there, offered] = mysql ? ['v', 'VALUES(v)'] : ['t.v', 'excluded.v'];
    const columns = columnsOf(this.scene, true).join(', ');
    const fresh = Number(/\((\d+)/.exec(insert.slice(insert.indexOf('VALUES')))![1]) + 5000;
    const second = rowOf(this.scene, { rid: fresh, key: key + 1, u: fresh, v: fresh });
    const copy = `INSERT INTO t (${columns}) SELECT ${fresh}, k${unique ? `, ${fresh}` : ''}, v + 1 FROM t WHERE ${this.where(key)}`;
    return forms.pick([
      () => this.#changing(insert, `${there} + ${offered}`),
      () => this.#changing(insert, offered!, ` WHERE ${there} < ${offered}`),
      () => this.#changing(`${insert}, ${second}`, `${offered} + 1`),
      () => this.#changing(copy, `${offered} + 1`),
      ...(['postgres', 'sqlite', 'mariadb'].includes(capabilities.target)
        ? [() => this.#changing(insert, `(SELECT MAX(s.v) + 1 FROM t AS s)`)]
        : []),
    ])();
  }

  replace(key: number): string {
    const { scene } = this;
    const verb = scene.dialect === 'mysql' || scene.dialect === 'sqlite' ? 'REPLACE' : 'INSERT OR REPLACE';
    return `${verb} INTO t (${columnsOf(scene, true).join(', ')}) VALUES ${rowOf(scene, { rid: this.rid(), key, u: this.value(), v: this.value() })}`;
  }

  merge(key: number): string {
    const { scene } = this;
    const row = rowOf(scene, { rid: this.rid(), key, u: this.value(), v: this.value() });
    const change = this.random.chance(0.5) ? String(this.value()) : 't.v + 1';
    const other = this.#otherMerge(key, row);
    if (other !== undefined) return other;
    return (
      `MERGE INTO t USING (SELECT ${keyText(scene, key)} AS k) AS s ON t.k = s.k ` +
      `WHEN MATCHED THEN UPDATE SET v = ${change} ` +
      `WHEN NOT MATCHED THEN INSERT (${columnsOf(scene, true).join(', ')}) VALUES ${row}`
    );
  }

  /** Half of all MERGEs of engines that have all of it: several actions, or several rows that they compute from. */
  #otherMerge(key: number, row: string): string | undefined {
    const { scene } = this;
    const forms = new Random(`merge/${row}`);
    if (!['postgres', 'duckdb'].includes(scene.capabilities.target) || forms.chance(0.5)) return undefined;
    const n = forms.between(1, 300);
    const insert = `INSERT (${columnsOf(scene, true).join(', ')}) VALUES ${row}`;
    const [one, two] = [keyText(scene, key), keyText(scene, key + 1)];
    return forms.pick([
      `MERGE INTO t USING (SELECT ${one} AS k, ${n} AS n) AS s ON t.k = s.k WHEN MATCHED AND t.v < s.n THEN UPDATE SET v = t.v + s.n ` +
        `WHEN MATCHED AND t.v < 1000 THEN DELETE WHEN NOT MATCHED AND s.n > 250 THEN DO NOTHING WHEN NOT MATCHED THEN ${insert}`,
      `MERGE INTO t USING (VALUES (${one}, ${n}), (${two}, ${n + 1})) AS s (k, n) ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.n`,
      `MERGE INTO t USING (SELECT k, v FROM t WHERE v < ${10 * n}) AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v + ${n}`,
    ]);
  }

  update(key: number): string {
    const set = this.random.chance(0.5) ? String(this.value()) : 'v + 1';
    return `UPDATE t SET v = ${set} WHERE ${this.where(key)}`;
  }

  /** UPDATE that chooses its row by a value others change. */
  updateByValue(value: number): string {
    return `UPDATE t SET v = ${this.value()} WHERE ${condition(this.scene, value, this.random.chance(0.7))}`;
  }

  delete(key: number): string {
    return `DELETE FROM t WHERE ${this.where(key)}`;
  }

  move(key: number, to: number): string {
    return `UPDATE t SET k = ${keyText(this.scene, to)} WHERE ${this.where(key)}`;
  }

  /** Gives the row of a key a unique value. */
  claim(key: number, u: number): string {
    return `UPDATE t SET u = ${u} WHERE ${this.where(key)}`;
  }

  lock(key: number): string {
    const shared = this.scene.capabilities.shareLock === 'share' ? 'FOR SHARE' : 'LOCK IN SHARE MODE';
    return `SELECT * FROM t WHERE ${this.where(key)} ${this.random.chance(0.7) ? 'FOR UPDATE' : shared}`;
  }

  readAll(): string {
    return 'SELECT * FROM t';
  }

  /** The same condition by an index and by a scan, or one of the two. */
  readByValue(value: number): string[] {
    const { scene, random } = this;
    const hint = random.chance(0.4) ? indexHint(scene) : '';
    const columns = scene.index === 'covering' && random.chance(0.6) ? 'rid, k, v' : '*';
    const by = (index: boolean) =>
      `SELECT ${columns} FROM t${index ? hint : ''} WHERE ${condition(scene, value, index)}`;
    return random.chance(0.5) ? [by(true), by(false)] : [by(random.chance(0.7))];
  }

  /**
   * One read in the words that the index serves, for a row by its value or for all rows that have one. Where the index holds all
   * that the read shows, the table itself need not be looked at.
   */
  readThroughIndex(value: number): string {
    const { scene, random } = this;
    const range = random.chance(0.5) ? rangeCondition(scene) : undefined;
    const columns = scene.index === 'covering' ? 'rid, k, v' : random.chance(0.2) ? 'v' : '*';
    return `SELECT ${columns} FROM t${indexHint(scene)} WHERE ${range ?? condition(scene, value, true)}`;
  }

  readByKey(key: number): string {
    return `SELECT * FROM t WHERE ${this.where(key)}`;
  }

  /** Something that fails in the middle of a transaction: a taken key, a taken unique value, a broken condition, a NULL. */
  failing(taken: number, u: number): string {
    const { scene } = this;
    const set = (value: string) => `UPDATE t SET v = ${value} WHERE ${this.where(taken)}`;
    const ways = [
      this.insert(taken),
      ...(scene.unique ? [this.insert(automatic(scene) ? undefined : taken + 30, u)] : []),
      ...(scene.checked ? [set(`${-this.value()}`), 'UPDATE t SET v = 150 - v'] : []),
      ...(scene.notNull ? [set('NULL')] : []),
    ];
    return this.random.pick(ways);
  }
}
