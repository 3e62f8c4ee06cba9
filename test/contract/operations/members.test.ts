import { memberRows } from '../rows/members.ts';
import { testOperations } from './test-operations.ts';

testOperations(memberRows);
