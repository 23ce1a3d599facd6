import { describeConformance } from '../conformance.case.js';
import { derbyAvailable, derbyDriver } from './index.js';

describeConformance({
  available: derbyAvailable,
  open: () => derbyDriver.open('derby:', {}),
  spelling: {
    text: 'VARCHAR(200)',
    binary: ['VARCHAR(10) FOR BIT DATA', "X'00ff10'"],
  },
  skips: {
    'NULL is null': 'Derby wants a type for NULL in a SELECT',
    'integers are numbers up to 2^53 − 1 and exact beyond':
      'Derby converts text to BIGINT by way of a double: 9007199254740993 becomes 9007199254740992',
    'doubles come back exactly, with NaN and the infinities where the engine has them':
      'Derby has neither NaN nor infinities',
    'dates and times are ISO texts of their own kind': 'the TIME of Derby has no fraction of a second',
    'uncommitted changes stay invisible at the default level, and COMMIT publishes them': {
      reason: 'a reader of a row waits for its writer',
      unrun: true,
    },
  },
});
