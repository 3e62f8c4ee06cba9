import { meetingRows } from '../rows/meetings.ts';
import { testOperations } from './test-operations.ts';

testOperations(meetingRows);
