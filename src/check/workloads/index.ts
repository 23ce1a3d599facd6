export { recognizeWorkload, workloads } from './registry.js';
export { type Workload, type WorkloadName, type WorkloadOptions, workloadNames } from './workload.js';
export { workloadOf, workloadOracle } from './workload-oracle.js';
