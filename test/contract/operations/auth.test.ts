import { authRows } from '../rows/auth.ts';
import { testOperations } from './test-operations.ts';

testOperations(authRows);
