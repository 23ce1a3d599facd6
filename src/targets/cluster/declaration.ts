import type { TargetDeclaration } from '../declaration.js';

export const clusterDeclaration: TargetDeclaration = {
  name: 'cluster',
  title: 'several nodes of one database',
  schemes: ['cluster'],
  usage:
    'cluster:postgres  (a private primary and its hot standby)  or  cluster:mariadb  (private Galera nodes)  or  cluster:URL1,URL2',
  findEngines: async () => (await import('./index.js')).findClusters(),
  load: async () => (await import('./index.js')).clusterDriver,
};
