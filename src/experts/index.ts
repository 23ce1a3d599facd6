export { answersIn } from './answer-files.js';
export {
  decideByExperts,
  type ExpertOptions,
  type ExpertVerdict,
  openReports,
  type Savings,
  usualMaxCalls,
  usualRounds,
  usualVotes,
} from './decide.js';
export { type Endpoint, type EndpointOptions, type Message, openEndpoint, type Reply } from './endpoint.js';
export { type ExpertName, expertNames } from './mechanisms.js';
export { type Choice, type Opinion, readOpinion } from './opinion.js';
export type { AnswerCache, Asked, Counts } from './panel.js';
export type { Manner, PooledOpinion } from './prompts.js';
export { vote } from './vote.js';
