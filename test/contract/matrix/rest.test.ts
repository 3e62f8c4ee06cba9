import { viaRest } from '../transports.ts';
import { testMatrix } from './test-matrix.ts';

testMatrix(viaRest);
