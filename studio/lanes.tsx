/** The interleaving: time goes down, one lane per session, results in place. What lies behind the current step is faint. */
import { useContext, useEffect, useRef } from 'preact/hooks';
import type { LaneEntry, RunPage } from '../src/studio/api.js';
import { FocusContext, isPointedAt, usePointing } from './focus.js';
import { Sql } from './sql.js';

interface LanesProps {
  readonly run: RunPage;
  readonly step: number;
  readonly go: (step: number) => void;
}

export function Lanes({ run, step, go }: LanesProps) {
  const { sessions, entries } = run;
  return (
    <section class="scroll lanes-scroll" tabIndex={0} aria-label="lanes of the sessions">
      <table class="lanes">
        <thead>
          <tr>
            <th scope="col">#</th>
            {sessions.map((name, s) => (
              <th key={name} scope="col" class={`s${s % 6}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry, i) => (
            <Line key={i} entry={entry} at={i} width={sessions.length} step={step} go={go} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface LineProps {
  readonly entry: LaneEntry;
  readonly at: number;
  readonly width: number;
  readonly step: number;
  readonly go: (step: number) => void;
}

function Line({ entry, at, width, step, go }: LineProps) {
  const { operation, transaction, session, witness, part } = entry;
  const pointing = usePointing({ operations: [operation] });
  const holder = useContext(FocusContext);
  const row = useRef<HTMLTableRowElement>(null);
  const before = useRef(step);
  useEffect(() => {
    // Not when the page opens: it begins at its top.
    if (step === at && before.current !== step) row.current?.scrollIntoView({ block: 'nearest' });
    before.current = step;
  }, [step, at]);
  const states = [
    at > step ? 'later' : '',
    at === step ? 'now' : '',
    witness ? 'witness' : '',
    isPointedAt(holder, { operations: [operation], transaction }) ? 'lit' : '',
  ];
  return (
    <tr ref={row} class={states.join(' ')} onClick={() => go(at)} {...pointing}>
      <td class="number">
        <button
          type="button"
          onClick={() => go(at)}
          aria-current={at === step ? 'step' : undefined}
          aria-label={`operation ${operation}${part === 'answered' ? ', answered' : ''}`}
        >
          {operation}
        </button>
      </td>
      {Array.from({ length: width }, (_, s) => (
        <td key={s} class={s === session ? `lane s${s % 6} part-${part}` : 'lane'}>
          {s === session && <Said entry={entry} />}
        </td>
      ))}
    </tr>
  );
}

function Said({ entry: { sql, result, failed, begins } }: { readonly entry: LaneEntry }) {
  return (
    <>
      {begins !== undefined && <b class="begins">{begins}: </b>}
      {sql !== undefined && <Sql text={sql} />}
      {result !== '' && <code class={failed ? 'result error' : 'result'}>{result}</code>}
    </>
  );
}
