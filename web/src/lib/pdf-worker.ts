/**
 * The worker of pdf.js. The policy of the page allows no WebAssembly. Without the global, pdf.js does not try it where
 * it has other ways, such as for functions in PostScript.
 */
import 'pdfjs-dist/build/pdf.worker.mjs';

Reflect.deleteProperty(globalThis, 'WebAssembly');
