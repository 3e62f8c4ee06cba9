import type { NextConfig } from 'next';

// Next would take the repository around this example for the project.
export default { turbopack: { root: import.meta.dirname } } satisfies NextConfig;
