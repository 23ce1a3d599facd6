/** A hunt while it runs: lines written over on a terminal, a plain log elsewhere. */
import { duration, type HuntEvent, type HuntStyle, renderBug, renderCounters } from '../hunt/index.js';
import { vendorContract } from '../judge/index.js';
import { describeBurst } from './burst-command.js';
import type { CliContext } from './context.js';

const redrawMs = 200;
const logMs = 5_000;

/** Lines written over on a terminal; elsewhere a line every few seconds. */
export class LiveView {
  #drawn = false;
  #shownAt = performance.now();

  constructor(
    private readonly context: CliContext,
    private readonly quiet: boolean,
    private readonly save: (event: HuntEvent & { kind: 'progress' }) => void,
  ) {}

  show(event: HuntEvent): void {
    const { context } = this;
    switch (event.kind) {
      case 'opened': {
        const { target, levels, contracts } = event;
        const { name, version } = target.stamp;
        const held = contracts.map(({ id }) => id).join(', ');
        context.err(`hunting in ${name} ${version} at ${levels.join(', ')}, held to ${held}`);
        const foreign = contracts.find(
          ({ owner, mechanism }, i) =>
            mechanism !== undefined && owner !== vendorContract(target, levels[i]!)?.owner,
        );
        if (foreign !== undefined)
          context.err(
            `${foreign.id} is another engine's promise: what breaks it need not be a bug of ${name}`,
          );
        return;
      }
      case 'progress':
        this.#redraw(event);
        return;
      case 'bug':
        this.erase();
        (this.quiet ? context.err : context.out)(
          renderBug(event.shelved, event.round, event.seconds, styleOf(context)),
        );
        return;
      case 'burst': {
        this.erase();
        const { id, isNew, folder, finding } = event.shelved;
        const name = `${isNew ? 'broken burst' : 'burst of the store'} ${id} after ${duration(event.seconds)}`;
        const lines = describeBurst(finding).map((line) => `  ${line}`);
        (this.quiet ? context.err : context.out)([name, ...lines, `  ${folder}`].join('\n'));
        return;
      }
      case 'reopened':
        this.erase();
        context.err(`the database went away and is opened again (${event.cause})`);
        return;
      case 'not-kept':
        this.erase();
        context.err(`isolde: ${event.why} (round ${event.round.number})`);
        return;
      case 'pursuing':
      case 'unconfirmed':
      case 'refused':
        return;
      default:
        event satisfies never;
    }
  }

  #redraw(event: HuntEvent & { kind: 'progress' }): void {
    const now = performance.now();
    const { errIsTerminal } = this.context;
    if (now - this.#shownAt < (errIsTerminal ? redrawMs : logMs)) return;
    this.#shownAt = now;
    this.save(event);
    this.erase();
    const text = renderCounters(event.counters, event.distinct);
    if (!errIsTerminal) {
      this.context.err(text.replace('\n', '; '));
      return;
    }
    const [done = '', found = ''] = text.split('\n').map((line) => line.slice(0, this.context.width - 1));
    const { colors } = this.context;
    const tone = event.distinct > 0 ? colors.red : event.counters.raw > 0 ? colors.yellow : colors.green;
    this.context.err(`${colors.dim(done)}\n${tone(found)}`);
    this.#drawn = true;
  }

  /** Takes the live lines away, so that something can be printed in their place. */
  erase(): void {
    if (this.#drawn) this.context.eraseLines(2);
    this.#drawn = false;
  }
}

/** A broken manual is what a hunt is for; what only theory forbids is not. */
function styleOf({ colors }: CliContext): HuntStyle {
  const claims = { 'breaks-manual': colors.red, reported: colors.yellow, theory: colors.dim };
  return {
    title: colors.bold,
    claim: (text, label) => claims[label](text),
    known: colors.cyan,
    quiet: colors.dim,
  };
}
