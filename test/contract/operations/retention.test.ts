import { retentionRows } from '../rows/retention.ts';
import { testOperations } from './test-operations.ts';

testOperations(retentionRows);
