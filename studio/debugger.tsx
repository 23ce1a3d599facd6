/**
 * The state after a step: transactions with their snapshots, what waits for whom, and every row's chain of versions with who wrote
 * them, who may see them, and which locks are held. All of it is what the verifier's mirror held at that moment.
 */
import { useContext } from 'preact/hooks';
import type {
  LaneEntry,
  RunPage,
  TraceMoment,
  TraceRow,
  TraceTransaction,
  TraceVersion,
} from '../src/studio/api.js';
import { FocusContext, isPointedAt, usePointing } from './focus.js';
import { Icon } from './icon.js';
import { Section, Transaction } from './parts.js';

export function Debugger({ run, step }: { readonly run: RunPage; readonly step: number }) {
  const { trace, entries, sessions } = run;
  if ('untraced' in trace)
    return (
      <Section title="State">
        <p class="quiet">There is no step-by-step state: {trace.untraced}.</p>
      </Section>
    );
  const state = run.steps[step + 1] ?? run.steps[0]!;
  const moment = trace.moments[state.moment]!;
  const names = new Map(trace.moments.at(-1)!.transactions.map(({ id, name }) => [id, name]));
  const current = entries[step];
  return (
    <section class="card debugger" aria-label="state">
      <h2>{current === undefined ? 'Before the first step' : `After step ${step + 1}`}</h2>
      <p class="quiet rule">
        {trace.contract}: a plain read sees {trace.rule}.
      </p>
      {current !== undefined && <Verdict run={run} entry={current} />}
      <ul class="transactions">
        {moment.transactions.map((each) => (
          <TransactionLine
            key={each.id}
            transaction={each}
            sessions={sessions}
            waits={state.waits.find(({ transaction }) => transaction === each.name)}
          />
        ))}
      </ul>
      {moment.rows.map((row) => (
        <Row key={row.object} row={row} moment={moment} names={names} sessions={sessions} />
      ))}
      {trace.hidden > 0 && <p class="quiet">{trace.hidden} other rows are left out.</p>}
      {moment.rows.length === 0 && <p class="quiet">There are no rows.</p>}
      <Legend />
    </section>
  );
}

interface TransactionLineProps {
  readonly transaction: TraceTransaction;
  readonly sessions: readonly string[];
  readonly waits: RunPage['steps'][number]['waits'][number] | undefined;
}

const states = {
  open: 'open',
  committed: 'committed',
  'rolled-back': 'rolled back',
  unknown: 'fate unknown',
};

function TransactionLine({ transaction, sessions, waits }: TransactionLineProps) {
  const { name, state, snapshotBy } = transaction;
  return (
    <li class={`state-${state}`}>
      <Transaction name={name} sessions={sessions} /> <span>{states[state]}</span>
      {state === 'open' && snapshotBy !== undefined && <span class="quiet">, snapshot by #{snapshotBy}</span>}
      {waits !== undefined && (
        <span class="waits">
          , waits
          {waits.for.map(({ object, owner }) => (
            <span key={`${object} ${owner}`}>
              {' '}
              for <Transaction name={owner} sessions={sessions} /> ({object})
            </span>
          ))}
        </span>
      )}
    </li>
  );
}

/** What the operation of this step did against what it should have done. */
function Verdict({ run, entry }: { readonly run: RunPage; readonly entry: LaneEntry }) {
  const wrong =
    entry.part === 'sent' ? [] : run.wrong.filter(({ operation }) => operation === entry.operation);
  if (wrong.length === 0) return null;
  return (
    <div class="verdict" role="note">
      {wrong.map(({ object, seen, allowed }) => (
        <p key={object}>
          <b>#{entry.operation}</b> {object}: <code class="returned">{seen}</code>
          {allowed.length > 0 && (
            <>
              , where the contract allows <code class="allowed">{allowed.join(' or ')}</code>
            </>
          )}
        </p>
      ))}
    </div>
  );
}

interface RowProps {
  readonly row: TraceRow;
  readonly moment: TraceMoment;
  readonly names: ReadonlyMap<number, string>;
  readonly sessions: readonly string[];
}

function Row({ row, moment, names, sessions }: RowProps) {
  const read = moment.reads.find(({ object }) => object === row.object);
  const seers = moment.transactions.filter(({ sees }) => sees !== undefined);
  return (
    <div class="row-chain">
      <h3>
        <span>{row.object}</span> <small>({row.columns.join(', ')})</small>
        {row.locks.map(({ owner, mode, operation }) => (
          <span key={`${owner} ${operation}`} class="lock" title={`taken by operation ${operation}`}>
            <Icon name="lock" /> {mode} <Transaction name={names.get(owner) ?? ''} sessions={sessions} />
          </span>
        ))}
      </h3>
      <ol class="versions">
        {row.versions.map((version) => (
          <Version
            key={version.id}
            version={version}
            writer={version.writer === undefined ? undefined : (names.get(version.writer) ?? '')}
            sessions={sessions}
            seenBy={seers
              .filter(({ sees }) => sees![row.object]?.includes(version.id))
              .map(({ name }) => name)}
            tone={
              read === undefined
                ? ''
                : read.explains.includes(version.id)
                  ? 'explains'
                  : read.allowed.includes(version.id)
                    ? 'allowed'
                    : ''
            }
          />
        ))}
      </ol>
      {read !== undefined && (
        <p class={read.explains.length > 0 ? 'read ok' : 'read wrong'}>
          #{moment.after} returned <code>{read.returned ?? 'no line'}</code>
          {read.explains.length > 0
            ? ', as the contract allows'
            : ': no version that the contract allows gives that'}
        </p>
      )}
    </div>
  );
}

interface VersionProps {
  readonly version: TraceVersion;
  readonly writer: string | undefined;
  readonly sessions: readonly string[];
  readonly seenBy: readonly string[];
  readonly tone: string;
}

const fates = {
  initial: 'initial',
  committed: 'committed',
  uncommitted: 'not committed',
  'rolled-back': 'rolled back',
  unknown: 'fate unknown',
};

function Version({ version, writer, sessions, seenBy, tone }: VersionProps) {
  const { operation, values, fate, certain, id } = version;
  const what = { version: id, ...(operation !== undefined && { operations: [operation] }) };
  const pointing = usePointing(what);
  const holder = useContext(FocusContext);
  const lit = isPointedAt(holder, { ...what, ...(writer !== undefined && { transaction: writer }) })
    ? 'lit'
    : '';
  return (
    <li class={`version fate-${fate} ${tone} ${lit}`} {...pointing}>
      <code class="values">{values.join(' or ')}</code>
      <span class="by">
        {writer === undefined ? 'initial' : <Transaction name={writer} sessions={sessions} />}
        {writer !== undefined && (
          <>
            {' '}
            {fates[fate]}
            {operation !== undefined && ` (#${operation})`}
            {!certain && ', if it wrote the row'}
          </>
        )}
      </span>
      {seenBy.length > 0 && (
        <span class="seen-by">
          <Icon name="eye" /> seen by{' '}
          {seenBy.map((name) => (
            <Transaction key={name} name={name} sessions={sessions} />
          ))}
        </span>
      )}
    </li>
  );
}

function Legend() {
  return (
    <p class="legend quiet">
      Versions go from old to new; dashed: not committed; struck out: rolled back. “Seen by”: what a plain
      read of that transaction would be allowed to return now.
    </p>
  );
}
