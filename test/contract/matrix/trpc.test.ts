import { viaTrpc } from '../transports.ts';
import { testMatrix } from './test-matrix.ts';

testMatrix(viaTrpc);
