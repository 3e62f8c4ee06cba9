import { participantRows } from '../rows/participants.ts';
import { testOperations } from './test-operations.ts';

testOperations(participantRows);
