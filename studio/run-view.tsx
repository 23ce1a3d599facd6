/** A run that was judged: set-up, lanes with results in place, the debugger and the graph beside them, all linked. */
import type { ComponentChildren } from 'preact';
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { RunPage } from '../src/studio/api.js';
import { Debugger } from './debugger.js';
import { type Focus, FocusContext } from './focus.js';
import { Graph } from './graph.js';
import { Icon } from './icon.js';
import { Lanes } from './lanes.js';
import { Section } from './parts.js';
import { Sql } from './sql.js';

/** `children`: what belongs below the lanes. */
export function RunView({
  run,
  setup,
  children,
}: {
  readonly run: RunPage;
  readonly setup: readonly string[];
  readonly children?: ComponentChildren;
}) {
  const [focus, setFocus] = useState<Focus>({});
  const point = useCallback((next: Focus) => setFocus(next), []);
  const holder = useMemo(() => ({ focus, point }), [focus, point]);
  const last = run.entries.length - 1;
  const [step, setStep] = useState(() => firstWrong(run) ?? last);
  return (
    <FocusContext.Provider value={holder}>
      <div class="run">
        <div class="run-left">
          <section class="card" aria-label="interleaving">
            <pre class="code setup" tabIndex={0}>
              {setup.map((sql, i) => (
                <div key={i}>
                  <Sql text={`${sql};`} />
                </div>
              ))}
            </pre>
            <Stepper step={step} last={last} go={setStep} />
            <Lanes run={run} step={step} go={setStep} />
          </section>
          {children}
        </div>
        <div class="run-right">
          <Debugger run={run} step={step} />
          {run.graph.nodes.length > 1 && run.graph.edges.length > 0 && (
            <Section title="Dependencies">
              <Graph picture={run.graph} sessions={run.sessions} />
            </Section>
          )}
        </div>
      </div>
    </FocusContext.Provider>
  );
}

/** Where the damage is first seen: that is where a reader wants to begin. */
function firstWrong({ entries, wrong }: RunPage): number | undefined {
  const index = entries.findIndex(
    ({ operation, part }) => part !== 'sent' && wrong.some((each) => each.operation === operation),
  );
  return index < 0 ? undefined : index;
}

interface StepperProps {
  readonly step: number;
  readonly last: number;
  readonly go: (step: number) => void;
}

/** Buttons at an end are only called disabled: one that is would lose the keyboard. */
function Stepper({ step, last, go }: StepperProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const to = {
      ArrowRight: step + 1,
      ArrowDown: step + 1,
      ArrowLeft: step - 1,
      ArrowUp: step - 1,
      Home: -1,
      End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(Math.max(-1, Math.min(last, to)));
  };
  return (
    <div class="stepper" role="toolbar" aria-label="steps" onKeyDown={onKeyDown}>
      <button type="button" onClick={() => go(-1)} aria-disabled={step < 0} aria-label="to the start">
        <Icon name="first" />
      </button>
      <button
        type="button"
        onClick={() => go(Math.max(-1, step - 1))}
        aria-disabled={step < 0}
        aria-label="one step back"
      >
        <Icon name="back" />
      </button>
      <button
        type="button"
        onClick={() => go(Math.min(last, step + 1))}
        aria-disabled={step >= last}
        aria-label="one step on"
      >
        <Icon name="on" />
      </button>
      <button type="button" onClick={() => go(last)} aria-disabled={step >= last} aria-label="to the end">
        <Icon name="last" />
      </button>
      <input
        type="range"
        min={-1}
        max={last}
        value={step}
        aria-label="step"
        onInput={(event) => go(Number(event.currentTarget.value))}
      />
      <output>{step < 0 ? 'before the first step' : `step ${step + 1} of ${last + 1}`}</output>
    </div>
  );
}
