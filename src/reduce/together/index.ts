export {
  type EditableCase,
  type EditableLine,
  type EditableStatement,
  editableCase,
  editLine,
  effectiveCase,
  type LineRef,
  mergeTransactions,
  moveLine,
  switchLines,
} from './editable-case.js';
export {
  type AutoOptions,
  describeTrial,
  type Hint,
  type ShrinkNode,
  type ShrinkOptions,
  ShrinkSession,
} from './shrink-session.js';
