import { secondFactorRows } from '../rows/second-factor.ts';
import { testOperations } from './test-operations.ts';

testOperations(secondFactorRows);
