import { passwordRows } from '../rows/passwords.ts';
import { testOperations } from './test-operations.ts';

testOperations(passwordRows);
