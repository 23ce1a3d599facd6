import type { TargetDeclaration } from '../declaration.js';

export const jdbcDeclaration: TargetDeclaration = {
  name: 'jdbc',
  title: 'a JDBC database',
  schemes: ['jdbc'],
  usage: 'jdbc:…  (any database with a JDBC driver; its jars in ISOLDE_JDBC_CLASSPATH)',
  load: async () => (await import('./index.js')).jdbcDriver,
};
