import { recordingUploadRows } from '../rows/recording-upload.ts';
import { testOperations } from './test-operations.ts';

testOperations(recordingUploadRows);
