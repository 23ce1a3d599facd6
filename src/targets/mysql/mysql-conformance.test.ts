import { describeFamilyConformance } from './family-conformance.case.js';
import { mysqlAvailable, mysqlDriver, startMysqlServer } from './index.js';

describeFamilyConformance({
  scheme: 'mysql',
  driver: mysqlDriver,
  start: startMysqlServer,
  available: mysqlAvailable,
  optional: true,
});
