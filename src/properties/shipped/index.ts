/** The properties that come with Isolde. */
import type { Property } from '../property.js';
import { faulty } from './faults.js';
import { singleSession } from './single-session.js';
import { transactional } from './transactions.js';

export const shippedProperties: readonly Property[] = [...singleSession, ...transactional, ...faulty];
