import { eventRows } from '../rows/events.ts';
import { testOperations } from './test-operations.ts';

testOperations(eventRows);
