import { contactRows } from '../rows/contacts.ts';
import { testOperations } from './test-operations.ts';

testOperations(contactRows);
