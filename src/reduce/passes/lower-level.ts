/** Lowers the isolation level: a finding that stays at a weaker level says more about the engine. The weakest first. */
import type { Candidate } from '../candidate.js';
import type { Pass } from './pass.js';

export const lowerLevel: Pass = {
  name: 'lower level',
  proposals(current, { levels, level }) {
    const used = current.case.sessions.map((session) => session.level ?? current.case.level ?? level);
    const highest = Math.max(...used.map((each) => (each === undefined ? -1 : levels.indexOf(each))));
    return levels.slice(0, Math.max(0, highest)).map((weaker) => (): Candidate => {
      const sessions = current.case.sessions.map(({ level: _, ...session }) => session);
      return { ...current, case: { ...current.case, level: weaker, sessions } };
    });
  },
};
