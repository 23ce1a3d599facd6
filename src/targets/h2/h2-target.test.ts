import { describeConformance } from '../conformance.case.js';
import { h2Available, h2Driver } from './index.js';

describeConformance({
  available: h2Available,
  open: () => h2Driver.open('h2:', {}),
  spelling: { time: 'TIME(1)', timestamp: 'TIMESTAMP(1)', binary: ['BYTEA', "X'00ff10'"] },
});
