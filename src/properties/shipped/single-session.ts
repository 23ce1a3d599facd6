/**
 * Properties of single sessions. PQS, NoREC and TLP are Rigger's and Su's oracles (OSDI 2020, ESEC/FSE 2020, OOPSLA 2020) as
 * D4 writes them (Figures 1 and 2); the others are D4's, or state what the shadow state knows.
 */
import { type Property, property } from '../property.js';

export const singleSession: readonly Property[] = [
  property(
    'pqs',
    { says: 'a query whose condition is true for a row returns it', sends: { read: 1, write: 1 } },
    ({ db, pick, gen, run, meanwhile, assert, that }) => {
      const t = pick(db.tables);
      const r = gen.row(t);
      run(gen.insertOf(r));
      meanwhile({ keep: r });
      const p = gen.predicate(t, r);
      assert(that.contains(run(`SELECT * FROM ${t} WHERE ${p}`), r));
    },
  ),
  property(
    'pqs join',
    { says: 'a join whose conditions are true for two rows returns the pair', sends: { read: 1, write: 1 } },
    ({ db, pick, gen, run, assert, that }) => {
      const t = pick(db.tables);
      const u = pick(db.tables.filter(({ name }) => name !== t.name));
      const [r, s] = [gen.row(t), pick(u.rows)];
      run(gen.insertOf(r));
      const [p, q] = [gen.predicate(t, r, { qualified: true }), gen.predicate(u, s, { qualified: true })];
      const [a, b] = [pick(t.columns), pick(u.columns)];
      const pairs = run(`SELECT ${t}.${a} AS a, ${u}.${b} AS b FROM ${t}, ${u} WHERE ${p} AND ${q}`);
      assert(that.contains(pairs, [r.value(a.name), s.value(b.name)]));
    },
  ),
  property(
    'norec',
    { says: 'as many rows satisfy a condition as a query by that condition returns', anyState: true },
    ({ db, pick, gen, run, assert, that }) => {
      const t = pick(db.tables);
      const p = gen.predicate(t, pick(t.rows));
      const chosen = run(`SELECT * FROM ${t} WHERE ${p}`);
      const computed = run(`SELECT ${p} FROM ${t}`);
      assert(that.equal(that.rows(chosen), that.trues(computed)));
    },
  ),
  property(
    'tlp where',
    {
      says: 'each row satisfies a condition, its negation, or that it is NULL: exactly one of them',
      anyState: true,
    },
    ({ db, pick, gen, run, assert, that }) => {
      const t = pick(db.tables);
      const p = gen.predicate(t);
      const all = run(`SELECT * FROM ${t}`);
      const parts = run(
        `SELECT * FROM ${t} WHERE ${p} UNION ALL SELECT * FROM ${t} WHERE NOT ${p} UNION ALL SELECT * FROM ${t} WHERE ${p} IS NULL`,
      );
      assert(that.same(all, parts));
    },
  ),
  property(
    'tlp where extended',
    { says: 'the three parts of a query by a second condition are together the query', anyState: true },
    ({ db, pick, gen, run, assert, that }) => {
      const t = pick(db.tables);
      const [p, q] = [gen.predicate(t), gen.predicate(t)];
      const all = run(`SELECT * FROM ${t} WHERE ${p}`);
      const parts = run(
        `SELECT * FROM ${t} WHERE ${p} AND ${q} UNION ALL SELECT * FROM ${t} WHERE ${p} AND (NOT ${q}) UNION ALL SELECT * FROM ${t} WHERE ${p} AND (${q} IS NULL)`,
      );
      assert(that.same(all, parts));
    },
  ),
  property(
    'delete-select',
    { says: 'deleted rows are gone', sends: { read: 1, write: 1 }, anyState: true },
    ({ db, pick, gen, run, assert, that }) => {
      const t = pick(db.tables);
      const r = pick(t.rows);
      const p = gen.predicate(t, r);
      run(`DELETE FROM ${t} WHERE ${p}`);
      assert(that.lacks(run(`SELECT * FROM ${t} WHERE ${p}`), r));
      assert(that.predicted(run(`SELECT * FROM ${t}`)), 'the other rows are still there');
    },
  ),
  property(
    'union all',
    { says: 'UNION ALL keeps every row of both sides', sends: { read: 3 }, anyState: true },
    ({ db, pick, gen, run, assert, assume, that }) => {
      const t = pick(db.tables);
      const [left, right] = [gen.predicate(t), gen.predicate(t)].map((p) => `SELECT * FROM ${t} WHERE ${p}`);
      const [one, two, both] = [run(left!), run(right!), run(`${left} UNION ALL ${right}`)];
      assume(that.works(one));
      assert(that.equal(that.sum(that.rows(one), that.rows(two)), that.rows(both)));
    },
  ),
  property(
    'create twice',
    { says: 'a table cannot be created a second time', sends: { create: 1, read: 1 }, anyState: true },
    ({ gen, run, attempt, assert, that }) => {
      const { name, create } = gen.table();
      for (const sql of create) run(sql);
      assert(that.fails(attempt(create[0]!)), `creating ${name} again fails`);
    },
  ),
  property(
    'insert-select',
    { says: 'inserted rows are there', sends: { read: 1, write: 1 } },
    ({ db, pick, gen, run, meanwhile, assert, that }) => {
      const t = pick(db.tables);
      const r = gen.row(t);
      run(gen.insertOf(r));
      meanwhile({ keep: r });
      assert(that.contains(run(`SELECT * FROM ${t}`), r));
    },
  ),
  property(
    'update-select',
    { says: 'updated rows hold what was assigned', sends: { read: 1, write: 1 } },
    ({ db, pick, gen, run, assert, that }) => {
      const t = pick(db.tables);
      run(gen.update(t));
      assert(that.predicted(run(`SELECT * FROM ${t}`)), 'the rows are as the UPDATE leaves them');
    },
  ),
  property(
    'drop-select',
    { says: 'a dropped table is gone', sends: { create: 1, read: 1 }, anyState: true },
    ({ db, pick, run, attempt, assert, that }) => {
      const t = pick(db.tables.length > 1 ? db.tables : []);
      run(`DROP TABLE ${t}`);
      assert(that.fails(attempt(`SELECT * FROM ${t}`)), `reading ${t.name} fails`);
    },
  ),
  property(
    'shadow state',
    { says: 'every table holds what was written into it' },
    ({ db, pick, run, assert, that }) => {
      pick(db.tables);
      for (const t of db.tables)
        assert(that.predicted(run(`SELECT * FROM ${t}`)), `${t.name} holds what was written into it`);
    },
  ),
];
