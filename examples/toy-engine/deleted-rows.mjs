// @ts-check
import { property } from 'isolde-db';

export default property(
  'deleted rows are gone',
  { sends: { read: 1, write: 1 } },
  ({ db, pick, gen, run, assert, that }) => {
    const t = pick(db.tables);
    const r = pick(t.rows);
    const p = gen.predicate(t, r); // a condition that is true for r
    run(`DELETE FROM ${t} WHERE ${p}`);
    const left = run(`SELECT * FROM ${t} WHERE ${p}`);
    assert(that.lacks(left, r), 'the row is gone');
  },
);
