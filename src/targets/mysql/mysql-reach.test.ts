import { describe, expect, it } from 'vitest';
import { reachOfGrants } from './mysql-reach.js';

const login = "GRANT USAGE ON *.* TO `a`@`%` IDENTIFIED BY PASSWORD '*x'";

describe('what a login may write', () => {
  it.each([
    [[login, 'GRANT ALL PRIVILEGES ON `isolde\\_%`.* TO `a`@`%`']],
    [[login, 'GRANT ALL PRIVILEGES ON `isolde_%`.* TO `a`@`%` WITH GRANT OPTION']],
    [['GRANT PROCESS ON *.* TO `a`@`%`', 'GRANT SELECT, SHOW VIEW ON `shop`.* TO `a`@`%`']],
    [['GRANT SELECT (`id`, `name`) ON `shop`.`users` TO `a`@`%`']],
  ])('is the scratch alone: %s', (lines) => {
    expect(reachOfGrants(lines, 'a')).toEqual({ kind: 'scratch' });
  });

  it.each([
    ['GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION', 'has ALL PRIVILEGES on *.*'],
    ['GRANT PROCESS, FILE ON *.* TO `a`@`%`', 'has FILE on *.*'],
    ['GRANT SELECT, INSERT ON `shop`.* TO `a`@`%`', 'has INSERT on `shop`.*'],
    ['GRANT ALL PRIVILEGES ON `isolde%`.* TO `a`@`%`', 'has ALL PRIVILEGES on `isolde%`.*'],
    ['GRANT UPDATE (`name`) ON `shop`.`users` TO `a`@`%`', 'has UPDATE on `shop`.`users`'],
    ['GRANT `admin` TO `a`@`%`', 'has a role'],
    ["GRANT PROXY ON ''@'%' TO 'a'@'%'", 'has PROXY'],
    ['GRANT EXECUTE ON PROCEDURE `shop`.`p` TO `a`@`%`', 'has EXECUTE'],
  ])('is more: %s', (line, why) => {
    const reach = reachOfGrants([login, line], 'a');
    expect(reach.kind === 'beyond' && reach.why).toContain(why);
    expect(reach.kind === 'beyond' && reach.advice).toContain('GRANT ALL ON `isolde\\_%`.*');
  });

  it('is more when it cannot be read', () => {
    expect(reachOfGrants(undefined, 'a').kind).toBe('beyond');
  });
});
