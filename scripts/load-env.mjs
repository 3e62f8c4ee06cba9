/**
 * Loads `.env` of the current directory, if it exists. Variables that the environment sets win. npm scripts preload it
 * with `--import`, because Node's own `--env-file-if-exists` prints a line whenever the file does not exist.
 */
import { existsSync } from 'node:fs';

if (existsSync('.env')) process.loadEnvFile('.env');
