import { recordingRows } from '../rows/recordings.ts';
import { testOperations } from './test-operations.ts';

testOperations(recordingRows);
