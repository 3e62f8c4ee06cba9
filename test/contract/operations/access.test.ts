import { accessRows } from '../rows/access.ts';
import { testOperations } from './test-operations.ts';

testOperations(accessRows);
