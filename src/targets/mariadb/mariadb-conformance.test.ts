import { describeFamilyConformance } from '../mysql/family-conformance.case.js';
import { mariadbAvailable, mariadbDriver, startMariadbServer } from './index.js';

describeFamilyConformance({
  scheme: 'mariadb',
  driver: mariadbDriver,
  start: startMariadbServer,
  available: mariadbAvailable,
});
