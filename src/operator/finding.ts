/**
 * A finding of `lynxroom doctor` about one part of the installation. `detail` describes its state, or says what to do.
 */
export type Finding = { check: string; state: 'ok' | 'warning' | 'problem'; detail: string };
