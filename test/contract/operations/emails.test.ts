import { emailRows } from '../rows/emails.ts';
import { testOperations } from './test-operations.ts';

testOperations(emailRows);
