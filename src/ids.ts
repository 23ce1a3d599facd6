/**
 * Numbers that name things. All of them are plain numbers when a program runs and when they are written; for the compiler the
 * number of a transaction is not the number of an operation, so that passing one for the other is an error. A number
 * without a name of its own (a literal, a result of arithmetic, what was read from a file) fits all of them.
 */
declare const names: unique symbol;
type Numbered<What extends string> = number & { readonly [names]?: What };

/** An operation, by its place in the history. */
export type OperationId = Numbered<'operation'>;
/** A transaction of a history. */
export type TransactionId = Numbered<'transaction'>;
/** A session, by its place among the sessions of a case or history. */
export type SessionId = Numbered<'session'>;
/** A statement, by its place in its session. */
export type StepId = Numbered<'step'>;
/** A row, or another object that is locked and has versions, by its number in the state that follows it. */
export type RowId = Numbered<'row'>;
/** A statement of a history that is put in order, by its place among the steps of all sessions. */
export type OrderStepId = Numbered<'order step'>;
