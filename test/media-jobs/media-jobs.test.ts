import { openRealS3 } from '../support/real-s3.ts';
import { describeMediaJobs } from './media-jobs.suite.ts';

const s3 = openRealS3('media-jobs');

describeMediaJobs('with files on the disk', (disk) => disk);
if (s3 !== null) describeMediaJobs('with files on S3', () => s3);
