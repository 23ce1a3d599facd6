import { startTidbServer, tidbAvailable } from './index.js';
import { describeTidbConformance } from './tidb-conformance.case.js';

describeTidbConformance({ start: startTidbServer, available: tidbAvailable });
