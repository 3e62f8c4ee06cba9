import { auditRows } from '../rows/audit.ts';
import { testOperations } from './test-operations.ts';

testOperations(auditRows);
