import type { TargetDeclaration } from '../declaration.js';

export const execDeclaration: TargetDeclaration = {
  name: 'exec',
  title: 'an adapter',
  schemes: ['exec'],
  usage: 'exec:COMMAND  (an adapter that speaks JSON lines)',
  load: async () => (await import('./index.js')).execDriver,
};
