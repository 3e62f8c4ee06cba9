import { peopleRows } from '../rows/people.ts';
import { testOperations } from './test-operations.ts';

testOperations(peopleRows);
