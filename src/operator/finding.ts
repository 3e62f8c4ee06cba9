/** What `lynxroom doctor` found out about one part. `detail` says what is so, or what to do. */
export type Finding = { check: string; state: 'ok' | 'warning' | 'problem'; detail: string };
