import { describeConformance } from '../conformance.case.js';
import { mariadbAvailable, mariadbDriver } from './index.js';

describeConformance({ open: () => mariadbDriver.open('mariadb:', {}), available: mariadbAvailable });
