/**
 * Follows REPLACE, upserts and MERGE: which rows were in the way, and what became of them and of the new rows.
 *
 * A row can be in the way if any of its versions can. If none can, the new rows are certainly there. If every version the
 * statement can have met is in the way, that row was certainly changed, and with a single new row that one was not
 * added. Otherwise both may have happened: the versions may or may not exist. What a changed row becomes is evaluated on every
 * version that the statement may have computed from (`baseOf`): for one that waited, what was committed when the wait ended. Nothing is judged
 * here, only followed.
 */
import type { Operation } from '../../histories/index.js';
import {
  type Image,
  intervalOf,
  mergeImages,
  rowKey,
  type Satisfies,
  type UpsertEffect,
  type UpsertPlan,
  unknownEffect,
} from '../../rows/index.js';
import type { Write } from './followed-write.js';
import { effectOn } from './idle-writes.js';
import type { PendingWrite } from './in-flight.js';
import { bindTables, record } from './judge-write.js';
import type { MirrorTable } from './mirror.js';
import { baseOf, lookAt, type Outlook } from './outlook.js';
import type { RowChain, View } from './row-chain.js';
import { followMovedRows, followNewRows, imagesMet, type WrittenRow } from './taken-places.js';
import type { Verification } from './verification.js';

/** `loseTime`: from when others may see what it did. */
export function followUpsert(
  verification: Verification,
  write: Write,
  plan: UpsertPlan,
  loseTime: number,
): void {
  const { tx, operation } = write;
  const table = verification.tables.get(plan.table.name)!;
  const { identity, basis } = table.info;
  const named = plan.rows.every((row) => identity.length === 0 || rowKey(row, identity) !== undefined);
  if (!named && basis === 'shown') table.endIdentity();
  const span = intervalOf(operation);
  const pending = verification.inFlight.on(table.info.name, tx, span);
  const lose = (why: string) => {
    verification.tally.skip('write', why);
    table.lose(`an INSERT before it could not be followed: ${why}`, loseTime, tx);
  };
  if (!named) {
    lose('the identity of an inserted row is not known');
    return;
  }
  if (!table.closed || pending.some(({ keys }) => keys === undefined)) {
    lose('rows in the way of an INSERT may not be known');
    return;
  }
  const spot = table.blindSpot(tx, span.end);
  const blind = spot !== undefined;
  // It may have changed rows we do not know, and sees those from now on, however old its snapshot is.
  if (blind && plan.effect !== 'nothing') table.lose(spot, Number.POSITIVE_INFINITY, tx);
  const met = meetRows(verification, write, plan, { table, pending, blind });
  const offered = plan.rows
    .map((values, i) => ({
      values,
      standing: plan.effect === 'replace' ? 'free' : standing(met, plan.meetsEach[i]!),
    }))
    .filter(({ standing: found }) => found !== 'met');
  followNewRows(
    verification,
    write,
    table,
    offered.map(({ values }) => values),
  );
  verification.tally.writes++;
  // A REPLACE by an equal row need not write either.
  const effects =
    plan.effect === 'replace' ? met.map(({ outlook }) => effectOn(write, outlook, plan.rows)) : [];
  if (effects.length === 1 && effects[0] === 'idle' && met[0]!.certain && !plan.bent) {
    record(write, met[0]!.outlook.row, plan.rows, 'idle');
    return;
  }
  const idle = effects.some((effect) => effect !== 'written');
  if (plan.effect !== 'nothing') changeMet(verification, write, plan, { met, idle });
  for (const { values, standing: found } of offered) {
    const row = table.insertedRow(values);
    const image: Image = plan.bent ? 'unknown' : values;
    const inTheWay = met.some(({ outlook }) => outlook.row === row);
    if (plan.effect === 'replace') record(write, row, [image], idle ? 'doubtful' : 'written');
    else if (found === 'free' && !blind) record(write, row, [image], plan.bent ? 'doubtful' : 'written');
    else record(write, row, inTheWay ? ['unknown'] : [image], 'doubtful');
  }
}

/** Whether a new row is certainly kept out by one in its way, certainly not, or neither. */
function standing(met: readonly Met[], meets: Satisfies): 'met' | 'free' | 'open' {
  let open = false;
  for (const { outlook, certain, unknown } of met) {
    const answers = outlook.images.map((image) =>
      image === 'absent' ? false : image === 'unknown' ? undefined : meets(image),
    );
    if (certain && answers.every((answer) => answer === true)) return 'met';
    // A row that may hold anything, or may have been there in another version, may be in any row's way.
    open ||= unknown || !certain || answers.some((answer) => answer !== false);
  }
  return open ? 'open' : 'free';
}

interface Met {
  readonly outlook: Outlook;
  /** It was in the way for certain. */
  readonly certain: boolean;
  /** What it may have held is not known. */
  readonly unknown: boolean;
}

/** The rows that may have been in the way. */
function meetRows(
  verification: Verification,
  { tx, operation, view }: Write,
  plan: UpsertPlan,
  {
    table,
    pending,
    blind,
  }: { readonly table: MirrorTable; readonly pending: readonly PendingWrite[]; readonly blind: boolean },
): Met[] {
  // A row that is being inserted may be there already.
  const arriving = new Set(pending.flatMap(({ keys }) => [...keys!]));
  for (const key of arriving) table.row(key);
  const seen = plan.byView ? view : viewOfMet(view, operation);
  const look = { view: seen, tx, exclusive: verification.exclusive, pending };
  const met: Met[] = [];
  for (const row of table.rows.values()) {
    if (!arriving.has(row.key) && !mayMeet(row, plan)) continue;
    const outlook = lookAt(row, look);
    // A unique index has a row that every version of it puts there, whichever of them it shows.
    const certain =
      !blind &&
      !outlook.unknown &&
      (outlook.versions.length === 1 || (view.current && !plan.byView)) &&
      outlook.images.every((image) => typeof image === 'object' && plan.meets(image) === true);
    met.push({ outlook, certain, unknown: blind || outlook.unknown });
  }
  return met;
}

/**
 * What an upsert finds in its way: current rows, or where writes see the snapshot, that. A unique index knows current rows all the
 * same, and engines differ in whom they ask, so there a row must be the same from the snapshot until now to be certain.
 */
function viewOfMet(view: View, operation: Operation): View {
  const moment = intervalOf(operation);
  const start = Math.min(view.span.start, moment.start);
  return { span: { start, end: moment.end }, current: true, dirty: false };
}

/** The rows in the way as the statement leaves them. */
function changeMet(
  verification: Verification,
  write: Write,
  plan: UpsertPlan,
  { met, idle }: { readonly met: readonly Met[]; readonly idle: boolean },
): void {
  const table = verification.tables.get(plan.table.name)!;
  const rowsOf = plan.reads.length === 0 ? () => [] : bindTables(verification, write, plan.reads);
  if (typeof rowsOf === 'string') verification.tally.skip('write', rowsOf);
  const effect = typeof rowsOf === 'string' ? unknownEffect.bind(() => []) : plan.bind(rowsOf);
  // A new row that two others are in the way of, each by another key, changes one of them.
  const oneOfSeveral =
    plan.effect === 'update' && !plan.byView && met.length > 1 && plan.table.uniqueKeys?.length !== 1;
  const written: WrittenRow[] = [];
  for (const each of met) {
    const outlook = baseOf(each.outlook, write, verification.exclusive);
    const { images, certain } = imagesOfMet({ ...each, outlook }, plan, effect);
    if (images.length === 0) continue;
    verification.observer?.met(write, each.outlook);
    written.push({ row: outlook.row, met: imagesMet(outlook, plan.meets), images });
    const changed = certain && !oneOfSeveral && !idle;
    record(write, each.outlook.row, images, changed ? effectOn(write, each.outlook, images) : 'doubtful');
  }
  followMovedRows(verification, write, table, written);
}

/** What a row in the way may become, and whether it certainly becomes one of that; nothing: it stays as it is. */
function imagesOfMet(
  { outlook, certain, unknown }: Met,
  plan: UpsertPlan,
  { changes, apply }: UpsertEffect,
): { readonly images: readonly Image[]; readonly certain: boolean } {
  if (plan.effect === 'replace') return { images: ['absent'], certain };
  if (unknown) return { images: ['unknown'], certain: false };
  const images: Image[] = [];
  let sure = certain;
  for (const image of outlook.images) {
    const touched = touches(image, plan, changes);
    if (touched !== true) sure = false;
    if (touched !== false) images.push((typeof image === 'object' ? apply(image) : undefined) ?? 'unknown');
  }
  return { images: images.length === 0 ? [] : mergeImages(images), certain: sure };
}

/** Whether a row of this image was in the way and is changed. */
function touches(image: Image, plan: UpsertPlan, changes: UpsertEffect['changes']): boolean | undefined {
  if (image === 'absent') return false;
  if (image === 'unknown') return undefined;
  const meets = plan.meets(image);
  const changed = changes(image);
  if (meets === false || changed === false) return false;
  return meets === true && changed === true ? true : undefined;
}

function mayMeet(row: RowChain, plan: UpsertPlan): boolean {
  return row.versions.some((version) =>
    version.states.some((state) =>
      state.images.some((image) =>
        image === 'unknown' ? true : image !== 'absent' && plan.meets(image) !== false,
      ),
    ),
  );
}
