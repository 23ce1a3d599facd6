import { describe, expect, it } from 'vitest';
import { describeLabel, labelOf } from './label.js';

describe('the label of a finding', () => {
  it.each([
    ['duckdb:snapshot', 'firstUpdaterWins true', 'breaks-manual'],
    ['mariadb:repeatable-read', 'ownWrites true', 'breaks-manual'],
    ['mariadb:repeatable-read+reported', 'ownWrites true', 'breaks-manual'],
    ['mariadb:repeatable-read+reported', 'ownDeletesHide true', 'reported'],
    ['mariadb:repeatable-read+reported', 'subqueriesSee snapshot', 'reported'],
    ['adya:PL-SI', 'forbids lost-update', 'theory'],
    [undefined, 'server-crash', 'breaks-manual'],
    ['nobody:knows', 'forbids G0', 'breaks-manual'],
  ])('of %s, %s is %s', (contract, clause, label) => {
    expect(labelOf({ contract, clause })).toBe(label);
  });

  it('has words for people', () => {
    expect(describeLabel('theory')).toBe('theory only');
  });
});
