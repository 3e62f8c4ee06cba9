import { meetingProviderRows } from '../rows/meeting-providers.ts';
import { testOperations } from './test-operations.ts';

testOperations(meetingProviderRows);
