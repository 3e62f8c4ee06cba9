import { openRealS3 } from '../support/real-s3.ts';
import { describeLiveRecordings } from './live-recordings.suite.ts';

const s3 = openRealS3('live-recordings');

describeLiveRecordings('a recording that is sent while it is made, on the disk', (disk) => disk);
if (s3 !== null) describeLiveRecordings('a recording that is sent while it is made, on S3', () => s3);
